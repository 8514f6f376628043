//! Data as texts for a message between two programs of the same version: a worker of a page and the page.
//!
//! A text has the values alone, in a fixed order. Numbers end with `;`, and the length of a string stands before it.
//! Names of fields would be most of a large message, and the code that finds fields by their names most of the
//! program that reads it.

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path, PathElement};
use optimist_client::{OnOwned, Preset, Way};
use serde_json::Value;

use crate::completions::{CompletionAnswer, OpenQuestion, Then};
use crate::ways::{
    ConflictCause, FieldEffect, Instruction, InstructionLanguage, InstructionWarning, RemedyKind,
    SecondRun, TakenBack,
};

/// Something that has a compact form.
pub trait Compact: Sized {
    /// Writes it behind a text.
    fn write(&self, to: &mut String);

    /// Reads it from the beginning of a text; `None` if it does not stand there.
    fn read(from: &mut CompactReader<'_>) -> Option<Self>;

    /// Its text.
    fn to_compact(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Reads a whole text; `None` if it says something else, or more.
    fn from_compact(text: &str) -> Option<Self> {
        let mut reader = CompactReader(text);
        let read = Self::read(&mut reader)?;
        reader.0.is_empty().then_some(read)
    }
}

/// The rest of a text that is read.
#[derive(Debug)]
pub struct CompactReader<'a>(&'a str);

impl<'a> CompactReader<'a> {
    /// The next number.
    pub fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_once(';')?;
        self.0 = rest;
        number.parse().ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

/// Writes a number.
pub fn write_number(number: usize, to: &mut String) {
    to.push_str(&number.to_string());
    to.push(';');
}

fn write_text(text: &str, to: &mut String) {
    write_number(text.len(), to);
    to.push_str(text);
}

impl Compact for usize {
    fn write(&self, to: &mut String) {
        write_number(*self, to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        from.number()
    }
}

impl Compact for u16 {
    fn write(&self, to: &mut String) {
        write_number((*self).into(), to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        from.number()?.try_into().ok()
    }
}

impl Compact for bool {
    fn write(&self, to: &mut String) {
        write_number((*self).into(), to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        Some(from.number()? == 1)
    }
}

impl Compact for i64 {
    fn write(&self, to: &mut String) {
        write_text(&self.to_string(), to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        from.text()?.parse().ok()
    }
}

impl Compact for String {
    fn write(&self, to: &mut String) {
        write_text(self, to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        from.text().map(str::to_owned)
    }
}

/// It is written as JSON.
impl Compact for Value {
    fn write(&self, to: &mut String) {
        write_text(&self.to_string(), to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        serde_json::from_str(from.text()?).ok()
    }
}

impl<T: Compact> Compact for Option<T> {
    fn write(&self, to: &mut String) {
        self.is_some().write(to);
        self.iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        Some(match bool::read(from)? {
            true => Some(T::read(from)?),
            false => None,
        })
    }
}

impl<T: Compact> Compact for Box<T> {
    fn write(&self, to: &mut String) {
        (**self).write(to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        T::read(from).map(Box::new)
    }
}

impl<T: Compact> Compact for Vec<T> {
    fn write(&self, to: &mut String) {
        write_number(self.len(), to);
        self.iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        let length = from.number()?;
        (0..length).map(|_| T::read(from)).collect()
    }
}

impl<T: Compact, U: Compact> Compact for (T, U) {
    fn write(&self, to: &mut String) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        Some((T::read(from)?, U::read(from)?))
    }
}

/// The fields of a struct, one after the other.
#[macro_export]
macro_rules! compact_struct {
    ($of:ty { $($field:ident),* $(,)? }) => {
        impl $crate::compact::Compact for $of {
            fn write(&self, to: &mut String) {
                $($crate::compact::Compact::write(&self.$field, to);)*
            }

            fn read(from: &mut $crate::compact::CompactReader<'_>) -> Option<Self> {
                Some(Self { $($field: $crate::compact::Compact::read(from)?),* })
            }
        }
    };
}

/// The number of a variant, and then its fields.
#[macro_export]
macro_rules! compact_enum {
    ($of:ty { $($at:literal $variant:ident $(($($one:ident),*))? $({$($name:ident),*})?),* $(,)? }) => {
        impl $crate::compact::Compact for $of {
            fn write(&self, to: &mut String) {
                match self {
                    $(Self::$variant $(($($one),*))? $({$($name),*})? => {
                        $crate::compact::write_number($at, to);
                        $($($crate::compact::Compact::write($one, to);)*)?
                        $($($crate::compact::Compact::write($name, to);)*)?
                    })*
                }
            }

            fn read(from: &mut $crate::compact::CompactReader<'_>) -> Option<Self> {
                Some(match from.number()? {
                    $($at => {
                        $($(let $one = $crate::compact::Compact::read(from)?;)*)?
                        $($(let $name = $crate::compact::Compact::read(from)?;)*)?
                        Self::$variant $(($($one),*))? $({$($name),*})?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

compact_enum!(PathElement { 0 Field(it), 1 Key(it), 2 Value(it), 3 Index(it) });
compact_enum!(ManagedFieldsOperation { 0 Apply, 1 Update });
compact_struct!(Manager {
    name,
    operation,
    api_version,
    subresource
});
compact_enum!(OnOwned { 0 Usual, 1 Force, 2 LeaveOut });
compact_enum!(Way { 0 Create, 1 Client(preset, on_owned) });
compact_enum!(Preset {
    0 KubectlEdit, 1 KubectlApply, 2 KubectlApplyServerSide, 3 KubectlReplace, 4 KubectlScale, 5 KubectlLabel,
    6 Update, 7 MergeFrom, 8 Autoscaler, 9 Helm3, 10 Helm4, 11 ArgoCdClientSide, 12 ArgoCdServerSide, 13 Flux,
    14 Terraform, 15 ControllerApply, 16 CreateOrUpdate,
});
compact_enum!(FieldEffect {
    0 Refused, 1 TakenOver, 2 Changed, 3 Added, 4 Removed, 5 Kept, 6 Shared, 7 OwnersChanged, 8 LeftBehind,
});
compact_struct!(ConflictCause {
    field,
    message,
    reason
});
compact_struct!(TakenBack {
    field,
    manager,
    autoscaler
});
compact_struct!(SecondRun {
    code,
    changes,
    never_rests
});
compact_struct!(OpenQuestion { answer, then });
compact_enum!(CompletionAnswer {
    0 Kind { api_version, kind }, 1 OtherValues, 2 MoreFields, 3 AppliedBefore, 4 ClientSideApply(it), 5 Untracked,
    6 SmallManifest, 7 ServerSideRelease, 8 OwnedByApplier, 9 OwnedByClientSideApply,
});
compact_enum!(Then {
    0 Code { first, other }, 1 Vanish(it), 2 Reset(it), 3 Effect(effect, it), 4 OthersVanish, 5 Written { changes },
    6 SecondRun { changes }, 7 DoesNotSettle, 8 Settles, 9 NoValidValues, 10 NoEffect(it),
});
compact_enum!(RemedyKind { 0 Force, 1 LeaveOut, 2 Agree, 3 Transfer, 4 Migrate });
compact_enum!(InstructionLanguage { 0 Shell, 1 Go, 2 Terraform, 3 Lines });
compact_enum!(InstructionWarning {
    0 Removes(it), 1 NeededToCreate(it), 2 AbsentFromNew(it), 3 OtherRecord { manager },
    4 NotInDryRun(it), 5 RemovedByKubectl(it),
});
compact_struct!(Instruction {
    language,
    text,
    has_values,
    try_first,
    warnings
});

impl Compact for Path {
    fn write(&self, to: &mut String) {
        self.0.write(to);
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        Some(Self(Vec::read(from)?))
    }
}
