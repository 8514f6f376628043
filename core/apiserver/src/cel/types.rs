//! Types, and which fit each other (`cel-go/checker/types.go`).

use std::fmt;
use std::sync::Arc;

use super::declared::Declared;

/// A type of CEL, or of the schema that a rule belongs to.
#[derive(Clone, Debug)]
pub enum Type {
    /// What a mistake leaves; fits everything.
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
    Type(Box<Type>),
    /// A list of items of one type.
    List(Box<Type>),
    /// A map of keys of one type to values of one type.
    Map(Box<Type>, Box<Type>),
    /// A value that may be absent.
    Optional(Box<Type>),
    /// A type of the Kubernetes libraries, by its name.
    Named(&'static str),
    /// An object of a schema.
    Object(Arc<Declared>),
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

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Error => "!error!",
            Type::Dyn => "dyn",
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "duration",
            Type::Timestamp => "timestamp",
            Type::Type(of) => return write!(f, "type({of})"),
            Type::List(item) => return write!(f, "list({item})"),
            Type::Map(key, value) => return write!(f, "map({key}, {value})"),
            Type::Optional(of) => return write!(f, "optional_type({of})"),
            Type::Named(name) => name,
            Type::Object(_) => "object",
            Type::Param(number) => return write!(f, "_var{number}"),
        })
    }
}

impl Type {
    fn parts(&self) -> Vec<&Type> {
        match self {
            Type::Type(of) | Type::List(of) | Type::Optional(of) => vec![of],
            Type::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// Whether two types are the same one.
    pub(super) fn is_same(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Named(one), Type::Named(other)) => one == other,
            (Type::Object(one), Type::Object(other)) => Arc::ptr_eq(one, other),
            (Type::Param(one), Type::Param(other)) => one == other,
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

    /// What this is without being optional, and whether it was.
    pub(super) fn unwrapped(&self) -> (&Type, bool) {
        match self {
            Type::Optional(of) => (of, true),
            other => (other, false),
        }
    }

    /// Whether `null` fits it (`isLegacyNullable`).
    fn is_nullable(&self) -> bool {
        matches!(
            self,
            Type::Null
                | Type::Duration
                | Type::Timestamp
                | Type::Named(_)
                | Type::Object(_)
                | Type::Optional(_)
        )
    }

    /// The first type if it says less, else the second (`mostGeneral`).
    pub(super) fn more_general(one: Type, other: Type) -> Type {
        if one.says_less(&other) { one } else { other }
    }

    /// `isEqualOrLessSpecific`.
    fn says_less(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn | Type::Param(_), _) => true,
            (_, Type::Dyn | Type::Param(_)) => false,
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(_) | Type::Map(..) | Type::Optional(_), _) => {
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

/// What is known of the types that were not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping(Vec<Option<Type>>);

impl Mapping {
    /// A type that is not known yet.
    pub(super) fn fresh(&mut self) -> Type {
        self.0.push(None);
        Type::Param(self.0.len() - 1)
    }

    fn find(&self, ty: &Type) -> Option<&Type> {
        match ty {
            Type::Param(number) => self.0.get(*number)?.as_ref(),
            _ => None,
        }
    }

    fn set(&mut self, param: &Type, ty: Type) {
        if let Type::Param(number) = param
            && let Some(known) = self.0.get_mut(*number)
        {
            *known = Some(ty);
        }
    }

    /// A type with what is known put in; with `settled`, what is not known becomes `dyn`.
    pub(super) fn substitute(&self, ty: &Type, settled: bool) -> Type {
        if let Some(known) = self.find(ty) {
            return self.substitute(known, settled);
        }
        let inner = |of: &Type| Box::new(self.substitute(of, settled));
        match ty {
            Type::Param(_) if settled => Type::Dyn,
            Type::Type(of) => Type::Type(inner(of)),
            Type::List(of) => Type::List(inner(of)),
            Type::Map(key, value) => Type::Map(inner(key), inner(value)),
            Type::Optional(of) => Type::Optional(inner(of)),
            other => other.clone(),
        }
    }

    /// Whether values of one type fit another. What is learned is kept only if they do.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        let before = self.0.clone();
        let fits = self.fits(from, to);
        if !fits {
            self.0 = before;
        }
        fits
    }

    /// The same for several at once.
    pub(super) fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let before = self.0.clone();
        let fits =
            from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.fits(from, to));
        if !fits {
            self.0 = before;
        }
        fits
    }

    /// `internalIsAssignable`.
    fn fits(&mut self, from: &Type, to: &Type) -> bool {
        if matches!(to, Type::Param(_)) {
            let (valid, known) = self.take(from, to);
            if valid || known {
                return valid;
            }
        }
        if matches!(from, Type::Param(_)) {
            return self.take(to, from).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
                self.fits(one, other)
            }
            (Type::Map(key, value), Type::Map(other_key, other_value)) => {
                self.fits(key, other_key) && self.fits(value, other_value)
            }
            _ => from.is_same(to),
        }
    }

    /// Whether an unknown type may be this one, and whether it was known before
    /// (`isValidTypeSubstitution`).
    fn take(&mut self, ty: &Type, param: &Type) -> (bool, bool) {
        if ty.is_same(param) {
            return (true, true);
        }
        if let Some(known) = self.find(param).cloned() {
            if ty.is_same(&known) {
                return (true, true);
            }
            if self.fits(ty, &known) {
                let general = Type::more_general(ty.clone(), known);
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

    fn is_absent_from(&self, param: &Type, ty: &Type) -> bool {
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
