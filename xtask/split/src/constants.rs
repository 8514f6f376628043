//! Finds the constants that the first part needs: those that were read until the page was drawn,
//! those whose address is in its code, and those whose address is in such a constant.
//!
//! The linker's map has the beginning and the length of each constant. A number in the code or in a
//! constant that could be an address counts as one, so the first part may have more than it needs.
//! Only constants move, never memory that the program can write.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use walrus::ir::Value;
use walrus::{ConstExpr, Data, DataKind, MemoryId, Module};

/// The linker puts constants into this section of its output.
const SECTION: &str = ".rodata";
/// The part of the section that the linker makes of constants that end with a zero byte.
const MERGED: &str = "<internal>:(.rodata)";

/// The minimum length of a constant that moves. Each piece of memory has a header.
const LEAST: usize = 24;

/// An optimizer may subtract a small number from the address of a constant before it adds an index.
const BEFORE: u32 = 256;

/// The minimum length of a long text.
const LONG: usize = 4096;

/// An optimizer may name a byte shortly after the begin of a text, or shortly before its end.
const NEAR: u32 = 256;

/// A piece of memory: its address, and its bytes.
pub type Piece = (u32, Vec<u8>);

/// The bytes that each part writes into the memory when it is loaded.
pub struct LinearMemory {
    pub first: Vec<Piece>,
    pub rest: Vec<Piece>,
}

impl LinearMemory {
    /// Splits the memory of a module: the first part has the constants at these addresses, and
    /// those that were read.
    ///
    /// # Errors
    /// If the map is not that of the module, or a segment has no fixed address.
    pub fn split(
        module: &Module,
        map: &str,
        addresses: &BTreeSet<u32>,
        read: &BTreeSet<u32>,
    ) -> Result<Self> {
        let image = Image::read(module)?;
        let constants = constants(map, &image)?;
        check(&constants, addresses)?;
        let (all, memory) = (&constants, &image);
        let names = |address: u32| {
            let named = named(all, address);
            named.filter(move |index| !memory.is_within_text(all[*index], address))
        };
        let mut needed = vec![false; constants.len()];
        let mut open = Vec::new();
        let variables = image.without(&constants);
        for address in addresses.iter().copied().chain(variables) {
            open.extend(names(address));
        }
        open.extend(read.iter().filter_map(|byte| containing(&constants, *byte)));
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut needed[index], true) {
                let (start, end) = constants[index];
                for address in image.words(start, end) {
                    open.extend(names(address));
                }
            }
        }
        Ok(image.cut(&moved(&constants, &needed)))
    }
}

/// The first address of a range, and the first address after it.
type AddressRange = (u32, u32);

/// Returns the address of a segment of a module.
///
/// # Errors
/// If it has no fixed address.
pub fn address(data: &Data) -> Result<u32> {
    let DataKind::Active { offset, .. } = &data.kind else {
        bail!("a data segment is passive: which part has it?");
    };
    let ConstExpr::Value(Value::I32(start)) = offset else {
        bail!("a data segment has no fixed address");
    };
    Ok(start.cast_unsigned())
}

/// The memory before the program starts, from address 0 on.
struct Image(Vec<u8>);

impl Image {
    /// Reads the memory of a module.
    fn read(module: &Module) -> Result<Self> {
        let mut image = Vec::new();
        for data in module.data.iter() {
            let start = address(data)? as usize;
            let end = start + data.value.len();
            image.resize(image.len().max(end), 0);
            image[start..end].copy_from_slice(&data.value);
        }
        Ok(Self(image))
    }

    fn end(&self) -> u32 {
        self.0.len() as u32
    }

    fn bytes(&self, (start, end): AddressRange) -> &[u8] {
        &self.0[start as usize..end as usize]
    }

    /// The words from one address to another, where a word may be an address.
    fn words(&self, start: u32, end: u32) -> impl Iterator<Item = u32> {
        let start = start.next_multiple_of(4).min(end);
        let words = self.bytes((start, end)).chunks_exact(4);
        words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    }

    /// Returns whether a number would be an address within a long text. No code names a part of one: such a
    /// number is something else.
    fn is_within_text(&self, (start, end): AddressRange, address: u32) -> bool {
        let far = address > start + NEAR && address + NEAR < end;
        let bytes = self.bytes((start, end));
        far && bytes.len() >= LONG && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
    }

    /// The words of everything that is no constant.
    fn without(&self, constants: &[AddressRange]) -> Vec<u32> {
        let mut words = Vec::new();
        let mut before = 0;
        for (start, end) in constants.iter().copied().chain([(self.end(), self.end())]) {
            words.extend(self.words(before, start.max(before)));
            before = end;
        }
        words
    }

    /// The rest has these ranges, the first part has all other bytes.
    fn cut(&self, moved: &[AddressRange]) -> LinearMemory {
        let mut memory = LinearMemory {
            first: Vec::new(),
            rest: Vec::new(),
        };
        let mut before = 0;
        let end = self.end();
        for (start, stop) in moved.iter().copied().chain([(end, end)]) {
            memory.first.extend(self.piece((before, start)));
            memory.rest.extend(self.piece((start, stop)));
            before = stop;
        }
        memory
    }

    /// Returns the bytes that must be written in a range, without the zeros at both ends, which are
    /// there already.
    fn piece(&self, (start, end): AddressRange) -> Option<Piece> {
        let bytes = self.bytes((start, end));
        let first = bytes.iter().position(|byte| *byte != 0)?;
        let last = bytes.iter().rposition(|byte| *byte != 0)?;
        Some((start + first as u32, bytes[first..=last].to_vec()))
    }
}

/// Reads the ranges of the constants from the map, in order.
fn constants(map: &str, image: &Image) -> Result<Vec<AddressRange>> {
    let mut constants: Vec<AddressRange> = Vec::new();
    for line in map.lines() {
        // address, offset in the file, size, file:(section
        let section = line.rsplit_once(":(").map(|(_, section)| section);
        if !section.is_some_and(|section| section.starts_with(SECTION)) {
            continue;
        }
        let mut numbers = line
            .split_ascii_whitespace()
            .map(|word| u32::from_str_radix(word, 16));
        let (Some(Ok(start)), Some(Ok(size))) = (numbers.next(), numbers.nth(1)) else {
            bail!("a line of the map has no address or no size: {line}");
        };
        // Zeros at the end of the memory are in no segment.
        let range = (start.min(image.end()), (start + size).min(image.end()));
        if line.contains(MERGED) {
            let mut from = start;
            for text in image.bytes(range).split_inclusive(|byte| *byte == 0) {
                let to = from + text.len() as u32;
                constants.push((from, to));
                from = to;
            }
        } else if range.0 < range.1 {
            constants.push(range);
        }
    }
    constants.sort_unstable();
    anyhow::ensure!(!constants.is_empty(), "the map names no constants");
    let overlap = constants.windows(2).any(|pair| pair[0].1 > pair[1].0);
    anyhow::ensure!(!overlap, "the map has a byte in two constants");
    Ok(constants)
}

/// Checks that the map is that of the module: code names most constants by where they begin.
fn check(constants: &[AddressRange], addresses: &BTreeSet<u32>) -> Result<()> {
    let named = |address: &u32| Some((*address, constants[containing(constants, *address)?].0));
    let named: Vec<_> = addresses.iter().filter_map(named).collect();
    let begun = named.iter().filter(|(address, start)| address == start);
    let (named, begun) = (named.len(), begun.count());
    anyhow::ensure!(
        begun * 4 >= named * 3,
        "the map is that of another module: of {named} constants, {begun} begin where it says"
    );
    Ok(())
}

/// The constant that has this byte.
fn containing(constants: &[AddressRange], byte: u32) -> Option<usize> {
    let next = constants.partition_point(|(start, _)| *start <= byte);
    next.checked_sub(1)
        .filter(|index| byte < constants[*index].1)
}

/// The constants that a number names, if it is an address.
fn named(constants: &[AddressRange], address: u32) -> impl Iterator<Item = usize> {
    let within = containing(constants, address);
    let begins = within.is_some_and(|index| constants[index].0 == address);
    let next = constants.partition_point(|(start, _)| *start <= address);
    let near = constants[next..]
        .iter()
        .take_while(move |(start, _)| !begins && start - address <= BEFORE);
    within.into_iter().chain(next..next + near.count())
}

/// The ranges of the constants that are not needed, without those that are too short.
fn moved(constants: &[AddressRange], needed: &[bool]) -> Vec<AddressRange> {
    let mut moved: Vec<AddressRange> = Vec::new();
    let mut before = true;
    for ((start, end), needed) in constants.iter().zip(needed) {
        match moved.last_mut() {
            // Between two constants are only zeros.
            Some(last) if !before && !needed => last.1 = *end,
            _ if !needed => moved.push((*start, *end)),
            _ => {}
        }
        before = *needed;
    }
    moved.retain(|(start, end)| (end - start) as usize >= LEAST);
    moved
}

/// The bytes of all pieces.
pub fn size(pieces: &[Piece]) -> usize {
    pieces.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// Puts these pieces in the place of all that the module writes into its memory.
pub fn replace(module: &mut Module, memory: MemoryId, pieces: &[Piece]) {
    let before: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    for data in before {
        module.data.delete(data);
    }
    module.memories.get_mut(memory).data_segments.clear();
    for (start, bytes) in pieces {
        let offset = ConstExpr::Value(Value::I32(start.cast_signed()));
        let kind = DataKind::Active { memory, offset };
        let data = module.data.add(kind, bytes.clone());
        module.memories.get_mut(memory).data_segments.insert(data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with this text at address 0x1000.
    fn module(text: &[u8]) -> Module {
        let mut module = Module::default();
        let memory = module.memories.add_local(false, false, 1, None, None);
        replace(&mut module, memory, &[(0x1000, text.to_vec())]);
        module
    }

    /// The pieces as the text they are of, with a dot where nothing is written.
    fn shown(pieces: &[Piece], length: usize) -> String {
        let mut shown = vec![b'.'; length];
        for (start, bytes) in pieces {
            let from = *start as usize - 0x1000;
            shown[from..from + bytes.len()].copy_from_slice(bytes);
        }
        String::from_utf8_lossy(&shown).into_owned()
    }

    fn split(text: &[u8], map: &str, addresses: &[u32]) -> Result<[String; 2]> {
        split_by(text, map, addresses, &[])
    }

    fn split_by(text: &[u8], map: &str, addresses: &[u32], read: &[u32]) -> Result<[String; 2]> {
        let [addresses, read] = [addresses, read].map(|all| all.iter().copied().collect());
        let memory = LinearMemory::split(&module(text), map, &addresses, &read)?;
        Ok([memory.first, memory.rest].map(|pieces| shown(&pieces, text.len())))
    }

    const THREE: &str = "
    Addr      Off     Size Out     In      Symbol
       -      100       20 CODE
       -      103        9         a.o:(main)
    1000      120     1020 .rodata
    1000      120       20         /a folder/a.o:(.rodata..La.1)
    1000      120       20                 .La.1
    1020      140       20         /a folder/a.o:(.rodata..La.2)
    1040      160       20         /a folder/a.o:(.rodata..La.3)
    1060      180        4 .data
    1060      180        4         a.o:(.data.x)";

    #[test]
    fn the_first_part_has_the_constants_that_its_code_names() -> Result<()> {
        let text = [[b'a'; 32], [b'b'; 32], [b'c'; 32]].concat();
        let [first, rest] = split(&text, THREE, &[1, 0x1020, 0x5000])?;
        assert_eq!(
            first,
            [".".repeat(32), "b".repeat(32), ".".repeat(32)].concat()
        );
        assert_eq!(
            rest,
            ["a".repeat(32), ".".repeat(32), "c".repeat(32)].concat()
        );
        Ok(())
    }

    #[test]
    fn the_first_part_has_the_constants_that_were_read() -> Result<()> {
        let text = [[b'a'; 32], [b'b'; 32], [b'c'; 32]].concat();
        let [_, rest] = split_by(&text, THREE, &[], &[0x103f, 0x5000])?;
        assert_eq!(
            rest,
            format!("{}{}{}", "a".repeat(32), ".".repeat(32), "c".repeat(32))
        );
        Ok(())
    }

    #[test]
    fn a_constant_comes_with_those_that_it_names() -> Result<()> {
        let mut text = [[b'a'; 32], [b'b'; 32], [b'c'; 32]].concat();
        text[4..8].copy_from_slice(&0x1044_u32.to_le_bytes());
        let [_, rest] = split(&text, THREE, &[0x1000])?;
        assert_eq!(
            rest,
            [".".repeat(32), "b".repeat(32), ".".repeat(32)].concat()
        );
        Ok(())
    }

    #[test]
    fn what_the_program_writes_stays_and_comes_with_the_constants_that_it_names() -> Result<()> {
        let text = [[b'a'; 32], [b'b'; 32], [b'c'; 32]].concat();
        let text = [text, 0x1040_u32.to_le_bytes().to_vec(), vec![b'd']].concat();
        let [first, rest] = split(&text, THREE, &[])?;
        let kept = format!("{}{}@\u{10}\0\0d", ".".repeat(64), "c".repeat(32));
        assert_eq!(first, kept);
        let moved = format!("{}{}{}", "a".repeat(32), "b".repeat(32), ".".repeat(37));
        assert_eq!(rest, moved);
        Ok(())
    }

    #[test]
    fn a_short_constant_stays_between_two_that_move() -> Result<()> {
        let text = [[b'a'; 48].as_slice(), b"bb", &[b'c'; 46]].concat();
        let map = "
    1000      120       30         a.o:(.rodata..La.1)
    1030      150        2         a.o:(.rodata..La.2)
    1032      152       2e         a.o:(.rodata..La.3)";
        let [first, rest] = split(&text, map, &[0x1030])?;
        assert_eq!(first, format!("{}bb{}", ".".repeat(48), ".".repeat(46)));
        assert_eq!(rest, format!("{}..{}", "a".repeat(48), "c".repeat(46)));
        Ok(())
    }

    #[test]
    fn an_address_shortly_before_a_constant_names_it_too() -> Result<()> {
        let text = [[b'a'; 32], [b'b'; 32], [b'c'; 32]].concat();
        let map = THREE.replace("    1020      140       20", "    1024      144       1c");
        let [_, rest] = split(&text, &map, &[0x1000, 0x1022, 0x1040])?;
        assert_eq!(rest, ".".repeat(96));
        Ok(())
    }

    #[test]
    fn a_number_does_not_name_the_midst_of_a_long_text() -> Result<()> {
        let map = "
    1000      120     2000         a.o:(.rodata..La.1)
    3000     2120       20         a.o:(.rodata..La.2)
    3020     2140       20         a.o:(.rodata..La.3)
    3040     2160       20         a.o:(.rodata..La.4)";
        let all = [[b'a'; 8192].as_slice(), &[b'b'; 96]].concat();
        let names_text = |text: &[u8], address: u32| -> Result<bool> {
            let [first, _] = split(text, map, &[0x3000, 0x3020, 0x3040, address])?;
            Ok(first.starts_with('a'))
        };
        assert!(!names_text(&all, 0x2000)?);
        assert!(names_text(&all, 0x1000)?);
        assert!(names_text(&all, 0x1004)?);
        assert!(names_text(&all, 0x2ffe)?);
        let table = [&all[..100], &[0], &all[101..]].concat();
        assert!(names_text(&table, 0x2000)?);
        Ok(())
    }

    #[test]
    fn merged_texts_end_with_a_zero_each() -> Result<()> {
        let text = [[b'a'; 31], [b'b'; 31]]
            .map(|text| [&text[..], b"\0"].concat())
            .concat();
        let map = "    1000      120     1000         <internal>:(.rodata)";
        let [first, rest] = split(&text, map, &[0x1000])?;
        assert!(
            first.starts_with(&"a".repeat(31)) && !first.contains('b'),
            "{first}"
        );
        assert!(
            rest.ends_with(&["b".repeat(31), ".".into()].concat()),
            "{rest}"
        );
        Ok(())
    }

    #[test]
    fn the_map_of_another_module_is_refused() {
        let text = [b'a'; 96];
        assert!(split(&text, THREE, &[0x1000, 0x1020, 0x1040]).is_ok());
        assert!(split(&text, THREE, &[0x1001, 0x1025, 0x1040]).is_err());
        assert!(split(&text, "", &[]).is_err());
    }
}
