//! Ranges of sizes and costs (`cel-go/checker/cost.go SizeEstimate, CostEstimate`).

/// A least and a most: of a size, or of a cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Range {
    pub(crate) const UNKNOWN: Range = Range {
        min: 0,
        max: u64::MAX,
    };
    /// The empty range, with which a union begins.
    pub(super) const NONE: Range = Range {
        min: u64::MAX,
        max: 0,
    };

    pub(crate) fn fixed(value: u64) -> Self {
        Self {
            min: value,
            max: value,
        }
    }

    pub(crate) fn plus(self, other: Range) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(crate) fn times(self, other: Range) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Rounded up.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        // A float that is too large becomes the largest number.
        let scaled = |value: u64| (value as f64 * factor).ceil() as u64;
        Self {
            min: scaled(self.min),
            max: scaled(self.max),
        }
    }

    pub(crate) fn united(self, other: Range) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
