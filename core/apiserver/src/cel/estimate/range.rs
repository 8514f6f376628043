//! Ranges of sizes and costs (`cel-go/checker/cost.go SizeEstimate, CostEstimate`).

/// A least and a most: of a size, or of a cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cel) struct Range {
    pub(in crate::cel) min: u64,
    pub(in crate::cel) max: u64,
}

impl Range {
    pub(in crate::cel) const UNKNOWN: Range = Range {
        min: 0,
        max: u64::MAX,
    };
    /// The empty range, with which a union begins.
    pub(super) const NONE: Range = Range {
        min: u64::MAX,
        max: 0,
    };

    pub(in crate::cel) fn fixed(value: u64) -> Self {
        Self {
            min: value,
            max: value,
        }
    }

    pub(in crate::cel) fn plus(self, other: Range) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(in crate::cel) fn times(self, other: Range) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Rounded up.
    pub(in crate::cel) fn scaled(self, factor: f64) -> Self {
        // A float that is too large becomes the largest number.
        let scaled = |value: u64| (value as f64 * factor).ceil() as u64;
        Self {
            min: scaled(self.min),
            max: scaled(self.max),
        }
    }

    pub(in crate::cel) fn united(self, other: Range) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
