//! The bytes of a message (`Unmarshal` and `skipGenerated` of `generated.pb.go`).

/// The rest of a message.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// The name of the message, for errors.
    name: &'a str,
}

/// The value of a field, by its type on the wire.
#[derive(Clone, Copy)]
pub(crate) enum Wire<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    /// A value of a type that no known field has: 3 is a group, 5 has four bytes.
    Other(u8),
}

impl Wire<'_> {
    /// Its number, for errors.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Other(number) => number,
        }
    }
}

const UNEXPECTED_END: &str = "unexpected EOF";
const OVERFLOW: &str = "proto: integer overflow";
const NEGATIVE_LENGTH: &str = "proto: negative length found during unmarshaling";

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Self { rest: bytes, name }
    }

    /// The next field; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Wire<'a>)>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let wire_type = (tag & 7) as u8;
        // Go keeps the lower 32 bits of the number.
        let number = (tag >> 3) as u32 as i32;
        if wire_type == 4 {
            let error = "wiretype end group for non-group";
            return Err(format!("proto: {}: {error}", self.name));
        }
        if number <= 0 {
            return Err(format!(
                "proto: {}: illegal tag {number} (wire type {tag})",
                self.name
            ));
        }
        let field = number.cast_unsigned();
        self.value(wire_type).map(|value| Some((field, value)))
    }

    /// A varint.
    pub(crate) fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_bytes(1)?.first().copied().unwrap_or_default();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(OVERFLOW.to_owned())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn value(&mut self, wire_type: u8) -> Result<Wire<'a>, String> {
        Ok(match wire_type {
            0 => Wire::Varint(self.varint()?),
            1 => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(self.take_bytes(8)?);
                Wire::Fixed64(bytes)
            }
            2 => {
                let length = self.varint()?.cast_signed();
                let length = usize::try_from(length).map_err(|_| NEGATIVE_LENGTH.to_owned())?;
                Wire::Bytes(self.take_bytes(length)?)
            }
            3 => {
                self.skip_group()?;
                Wire::Other(3)
            }
            5 => {
                self.take_bytes(4)?;
                Wire::Other(5)
            }
            other => return Err(format!("proto: illegal wireType {other}")),
        })
    }

    /// Skips what is in a group, and the groups in it.
    fn skip_group(&mut self) -> Result<(), String> {
        let mut depth = 1_usize;
        while depth > 0 {
            match (self.varint()? & 7) as u8 {
                3 => depth += 1,
                4 => depth -= 1,
                wire_type => {
                    self.value(wire_type)?;
                }
            }
        }
        Ok(())
    }

    fn take_bytes(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| UNEXPECTED_END.to_owned())?;
        self.rest = rest;
        Ok(taken)
    }
}
