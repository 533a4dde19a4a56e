//! The same trees as sampling profilers save them: each row is a function of its own, those of
//! lines are called as LispWorks calls local functions.

use std::io::{self, Write};

use super::{Cost, Path, Profile, Row, names};

/// Picoseconds between two looks at the stack: of the order of what an average row costs.
const PERIOD: u64 = 1_000_000;

/// Samples of a cost. Rounded down, so that what is called never has more samples than the caller.
fn samples(cost: Cost) -> u64 {
    cost.picoseconds / PERIOD
}

/// What a file says of a function, wherever it was seen.
#[derive(Clone, Copy, Default)]
struct Sums {
    calls: u64,
    seen: u64,
    top: u64,
}

/// Numbers for the functions: one for each function and each of its lines, in the order in which
/// they come.
#[derive(Default)]
struct Numbers(Vec<Vec<Option<usize>>>, usize);

impl Numbers {
    /// The number of a row's function, and whether it is new.
    fn of(&mut self, row: &Row) -> (usize, bool) {
        let place = row.line.map_or(0, |line| line + 1);
        if self.0.len() <= row.function {
            self.0.resize_with(row.function + 1, Vec::new);
        }
        let numbers = &mut self.0[row.function];
        if numbers.len() <= place {
            numbers.resize(place + 1, None);
        }
        let new = numbers[place].is_none();
        let number = *numbers[place].get_or_insert(self.1);
        self.1 += usize::from(new);
        (number, new)
    }
}

fn name(names: &[String], row: &Row) -> String {
    let name = &names[row.function];
    row.line.map_or_else(
        || name.clone(),
        |line| format!("(SUBFUNCTION {line} {name})"),
    )
}

/// The tree as LispWorks saves it, below a root and a thread of its own. Two passes: each line
/// holds the sums of its function.
pub(crate) fn write_lispworks(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    let mut numbers = Numbers::default();
    let mut sums: Vec<Sums> = Vec::new();
    let mut total = 0;
    // The function of each open row, and how many samples nothing below it has.
    let mut open: Vec<(usize, u64)> = Vec::new();
    let close = |open: &mut Vec<(usize, u64)>, sums: &mut Vec<Sums>| {
        if let Some((function, left)) = open.pop() {
            sums[function].top += left;
        }
    };
    profile.each_row(|row| {
        while open.len() > row.depth {
            close(&mut open, &mut sums);
        }
        let (function, _) = numbers.of(row);
        sums.resize(sums.len().max(function + 1), Sums::default());
        let count = samples(row.inclusive);
        sums[function].calls += row.calls;
        sums[function].seen += count;
        match open.last_mut() {
            Some((_, left)) => *left -= count,
            None => total += count,
        }
        open.push((function, count));
        Ok(())
    })?;
    while !open.is_empty() {
        close(&mut open, &mut sums);
    }
    writeln!(out, "LispWorks Profiler Tree: generated")?;
    writeln!(out, "0|{total}|0|{total}|0|\"Root\"")?;
    writeln!(out, "1|{total}|0|{total}|0|\"main\"")?;
    profile.each_row(|row| {
        let Sums { calls, seen, top } = sums[numbers.of(row).0];
        writeln!(
            out,
            "{}|{}|{calls}|{seen}|{top}|{}",
            row.depth + 2,
            samples(row.inclusive),
            name(&names, row)
        )
    })
}

/// One stack per row, innermost frame first, as programs write them for Apple's Sampler.
pub(crate) fn write_sampler(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    const THREAD: u32 = 0xffff_ffff;
    let names = names(profile.functions);
    let mut numbers = Numbers::default();
    write!(out, "@supersamplerV1.0\n@symboltableV1.1\n")?;
    let symbol = |out: &mut dyn Write, id: u32, name: &str| {
        out.write_all(b"\t")?;
        out.write_all(&id.to_be_bytes())?;
        out.write_all(b"\t\0\0\0\0\t")?;
        writeln!(out, "{name}\tNIL\tNIL")
    };
    symbol(out, THREAD, "main thread")?;
    profile.each_row(|row| match numbers.of(row) {
        (function, true) => symbol(out, id(function), &name(&names, row)),
        _ => Ok(()),
    })?;
    write!(out, "@end\n@threadV1.0\t{THREAD:X}\n")?;
    let mut path = Path::default();
    profile.each_row(|row| {
        path.enter(row);
        out.write_all(b"\t")?;
        for number in [1, 0, 1, id(path.open.len())] {
            out.write_all(&number.to_be_bytes())?;
        }
        for (_, row) in path.open.iter().rev() {
            out.write_all(&id(numbers.of(row).0).to_be_bytes())?;
        }
        out.write_all(b"\n")
    })?;
    out.write_all(b"@end\n")
}

/// One stack per row, outermost frame first, with the samples that nothing below it has.
pub(crate) fn write_folded(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    // The stack of the row before, and where each of its frames ends.
    let (mut stack, mut ends) = (String::new(), Vec::new());
    profile.each_row(|row| {
        ends.truncate(row.depth);
        stack.truncate(ends.last().copied().unwrap_or(0));
        if row.depth > 0 {
            stack.push(';');
        }
        stack.push_str(&name(&names, row));
        ends.push(stack.len());
        writeln!(out, "{stack} {}", samples(row.exclusive))
    })
}

fn id(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 functions and levels")
}
