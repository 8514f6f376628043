//! Types, and which fit each other (`cel-go/checker/types.go`).

use std::fmt;
use std::sync::Arc;

use super::declared::Declared;

/// A type of CEL, or of the schema that a rule belongs to.
#[derive(Clone, Debug)]
pub enum CelType {
    /// The type of a mistake; fits everything.
    Error,
    /// Known only when a rule runs.
    Dyn,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// The type of a type.
    Type(Box<CelType>),
    /// A list of items of one type.
    List(Box<CelType>),
    /// A map of keys of one type to values of one type.
    Map(Box<CelType>, Box<CelType>),
    /// A value that may be absent.
    Optional(Box<CelType>),
    /// A type of the Kubernetes libraries, by its name.
    Named(&'static str),
    /// An object of a schema.
    Object(Arc<Declared>),
    /// A message that says how to change an object, by the name of its type.
    Message(Arc<str>),
    /// A type that is not known yet.
    Param(usize),
}

/// The types of the Kubernetes libraries.
pub(super) const NAMED: [&str; 6] = [
    "kubernetes.URL",
    "net.IP",
    "net.CIDR",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
];

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CelType::Error => "!error!",
            CelType::Dyn => "dyn",
            CelType::Null => "null",
            CelType::Bool => "bool",
            CelType::Int => "int",
            CelType::Uint => "uint",
            CelType::Double => "double",
            CelType::String => "string",
            CelType::Bytes => "bytes",
            CelType::Duration => "duration",
            CelType::Timestamp => "timestamp",
            CelType::Type(of) => return write!(f, "type({of})"),
            CelType::List(item) => return write!(f, "list({item})"),
            CelType::Map(key, value) => return write!(f, "map({key}, {value})"),
            CelType::Optional(of) => return write!(f, "optional_type({of})"),
            CelType::Named(name) => name,
            CelType::Object(_) => "object",
            CelType::Message(name) => name,
            CelType::Param(number) => return write!(f, "_var{number}"),
        })
    }
}

impl CelType {
    fn parts(&self) -> Vec<&CelType> {
        match self {
            CelType::Type(of) | CelType::List(of) | CelType::Optional(of) => vec![of],
            CelType::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, CelType::Dyn | CelType::Error)
    }

    /// Returns whether two types are the same one.
    pub(super) fn is_same(&self, other: &CelType) -> bool {
        match (self, other) {
            (CelType::Named(one), CelType::Named(other)) => one == other,
            (CelType::Object(one), CelType::Object(other)) => Arc::ptr_eq(one, other),
            (CelType::Message(one), CelType::Message(other)) => one == other,
            (CelType::Param(one), CelType::Param(other)) => one == other,
            _ => {
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && self
                        .parts()
                        .into_iter()
                        .zip(other.parts())
                        .all(|(one, other)| one.is_same(other))
            }
        }
    }

    /// Returns the type inside an optional one, and `true` if there was one.
    pub(super) fn unwrapped(&self) -> (&CelType, bool) {
        match self {
            CelType::Optional(of) => (of, true),
            other => (other, false),
        }
    }

    /// Returns whether `null` fits it (`isLegacyNullable`).
    fn is_nullable(&self) -> bool {
        matches!(
            self,
            CelType::Null
                | CelType::Duration
                | CelType::Timestamp
                | CelType::Named(_)
                | CelType::Object(_)
                | CelType::Message(_)
                | CelType::Optional(_)
        )
    }

    /// The first type if it says less, else the second (`mostGeneral`).
    pub(super) fn more_general(one: CelType, other: CelType) -> CelType {
        if one.says_less(&other) { one } else { other }
    }

    /// `isEqualOrLessSpecific`.
    fn says_less(&self, other: &CelType) -> bool {
        match (self, other) {
            (CelType::Dyn | CelType::Param(_), _) => true,
            (_, CelType::Dyn | CelType::Param(_)) => false,
            (CelType::Type(_), CelType::Type(_)) => true,
            (CelType::List(_) | CelType::Map(..) | CelType::Optional(_), _) => {
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && self
                        .parts()
                        .into_iter()
                        .zip(other.parts())
                        .all(|(one, other)| one.says_less(other))
            }
            _ => self.is_same(other),
        }
    }
}

/// The types that have been found for the unknown ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping(Vec<Option<CelType>>);

impl Mapping {
    /// A type that is not known yet.
    pub(super) fn fresh(&mut self) -> CelType {
        self.0.push(None);
        CelType::Param(self.0.len() - 1)
    }

    fn find(&self, ty: &CelType) -> Option<&CelType> {
        match ty {
            CelType::Param(number) => self.0.get(*number)?.as_ref(),
            _ => None,
        }
    }

    fn set(&mut self, param: &CelType, ty: CelType) {
        if let CelType::Param(number) = param
            && let Some(known) = self.0.get_mut(*number)
        {
            *known = Some(ty);
        }
    }

    /// Replaces the known parts of a type; with `settled`, the unknown ones become `dyn`.
    pub(super) fn substitute(&self, ty: &CelType, settled: bool) -> CelType {
        if let Some(known) = self.find(ty) {
            return self.substitute(known, settled);
        }
        let inner = |of: &CelType| Box::new(self.substitute(of, settled));
        match ty {
            CelType::Param(_) if settled => CelType::Dyn,
            CelType::Type(of) => CelType::Type(inner(of)),
            CelType::List(of) => CelType::List(inner(of)),
            CelType::Map(key, value) => CelType::Map(inner(key), inner(value)),
            CelType::Optional(of) => CelType::Optional(inner(of)),
            other => other.clone(),
        }
    }

    /// Returns whether values of one type fit another. Types learned on the way are kept only if
    /// they do.
    pub(super) fn assign(&mut self, from: &CelType, to: &CelType) -> bool {
        let before = self.0.clone();
        let fits = self.fits(from, to);
        if !fits {
            self.0 = before;
        }
        fits
    }

    /// The same for several at once.
    pub(super) fn assign_all(&mut self, from: &[CelType], to: &[CelType]) -> bool {
        let before = self.0.clone();
        let fits =
            from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.fits(from, to));
        if !fits {
            self.0 = before;
        }
        fits
    }

    /// `internalIsAssignable`.
    fn fits(&mut self, from: &CelType, to: &CelType) -> bool {
        if matches!(to, CelType::Param(_)) {
            let (valid, known) = self.bind(from, to);
            if valid || known {
                return valid;
            }
        }
        if matches!(from, CelType::Param(_)) {
            return self.bind(to, from).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (CelType::Null, other) | (other, CelType::Null) => other.is_nullable(),
            (CelType::Type(_), CelType::Type(_)) => true,
            (CelType::List(one), CelType::List(other))
            | (CelType::Optional(one), CelType::Optional(other)) => self.fits(one, other),
            (CelType::Map(key, value), CelType::Map(other_key, other_value)) => {
                self.fits(key, other_key) && self.fits(value, other_value)
            }
            _ => from.is_same(to),
        }
    }

    /// Returns whether an unknown type may be this one, and whether it was known before
    /// (`isValidTypeSubstitution`).
    fn bind(&mut self, ty: &CelType, param: &CelType) -> (bool, bool) {
        if ty.is_same(param) {
            return (true, true);
        }
        if let Some(known) = self.find(param).cloned() {
            if ty.is_same(&known) {
                return (true, true);
            }
            if self.fits(ty, &known) {
                let general = CelType::more_general(ty.clone(), known);
                if self.is_absent_from(param, &general) {
                    self.set(param, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_absent_from(param, ty) {
            self.set(param, ty.clone());
            return (true, false);
        }
        (false, false)
    }

    fn is_absent_from(&self, param: &CelType, ty: &CelType) -> bool {
        if param.is_same(ty) {
            return false;
        }
        match self.find(ty) {
            Some(known) => self.is_absent_from(param, known),
            None => ty
                .parts()
                .into_iter()
                .all(|part| self.is_absent_from(param, part)),
        }
    }
}
