//! The walk: from shares to rows.
//!
//! A row states the totals of a subtree that has not been laid out yet. So the walk goes top-down:
//! each call gets a fixed number of rows, of calls and of time for its whole subtree, keeps a part
//! and hands the rest to its callees. Ticks follow from the calls: by the tick rule every row below
//! a function row adds twice its calls, and the function row itself adds its calls once. Memory is
//! O(depth + functions).

use std::io;

use super::{Cost, Random, Row, index, mix, pick};

/// A call that is still to be laid out, with what its whole subtree shall add up to.
pub(super) struct Call {
    function: usize,
    rows: usize,
    /// Calls of the function row itself.
    calls: u64,
    /// Calls of all rows of the subtree, the function row included: at least `calls + rows - 1`.
    all_calls: u64,
    /// Picoseconds of the subtree without the cost of the timer.
    net: u64,
}

impl Call {
    /// A call that has got its rows, but neither calls nor time yet.
    fn unshared(function: usize, rows: usize) -> Self {
        Self {
            function,
            rows,
            calls: 0,
            all_calls: 0,
            net: 0,
        }
    }

    fn inclusive(&self, bias: u64) -> Cost {
        let ticks = 2 * self.all_calls - self.calls;
        Cost {
            picoseconds: self.net + ticks * bias,
            ticks,
        }
    }
}

/// A line of a call with the functions called from it.
struct Line {
    number: usize,
    calls: u64,
    picoseconds: u64,
    callees: Vec<Call>,
}

impl Line {
    /// The tick rule for lines: the timer is read once for each call of the line and once for each
    /// call from it.
    fn ticks(&self) -> u64 {
        self.calls + self.callees.iter().map(|callee| callee.calls).sum::<u64>()
    }

    fn exclusive(&self) -> Cost {
        Cost {
            picoseconds: self.picoseconds,
            ticks: self.ticks(),
        }
    }

    fn callees_inclusive(&self, bias: u64) -> Cost {
        self.callees
            .iter()
            .map(|callee| callee.inclusive(bias))
            .sum()
    }
}

/// Calls and net time of an average row: of the order of the manual's examples.
const CALLS_PER_ROW: u64 = 24;
const NET_PER_ROW: u64 = 2_000_000;

/// How deep a tree is, and what makes it so.
#[derive(Clone, Copy)]
pub(crate) struct DepthPlan {
    /// No row is as deep.
    pub(crate) below: usize,
    /// From this depth on subtrees are divided evenly, which brings even the largest to an end.
    even: usize,
    /// One call in so many calls several functions; all others pass everything on to one.
    branches: usize,
    /// Rows below a root at most.
    root: usize,
}

/// What [`MAX_CALLEES`] even parts of each call take to get from a hundred million rows to one, and
/// something for the parts that are not quite even.
const EVEN_LEVELS: usize = 64;

impl DepthPlan {
    /// The usual program.
    pub(super) const USUAL: Self = Self {
        below: 200,
        even: 136,
        branches: 2,
        root: usize::MAX,
    };

    /// A tree that is about so deep.
    pub(super) fn about(depth: usize) -> Self {
        let levels = u32::try_from(depth / 2).unwrap_or(u32::MAX);
        Self {
            below: depth + EVEN_LEVELS,
            even: depth.saturating_sub(16),
            // A tree of millions of rows branches some 25 times on its way down.
            branches: (depth / 50).max(2),
            // Each call has a line below it, and so many callees below that.
            root: MAX_CALLEES.saturating_pow(levels.saturating_sub(1)).max(4) / 2,
        }
    }
}

/// The most functions that a call calls; all of them may end up on one line.
const MAX_CALLEES: usize = 12;

/// One line in so many is so cheap that the correction makes it about zero or less.
const CHEAP_LINES: usize = 32;

pub(super) struct Walk<F> {
    pub(super) graph: Graph,
    pub(super) bias: u64,
    pub(super) random: Random,
    pub(super) depth: DepthPlan,
    /// For each function how many of its calls are open.
    pub(super) open: Vec<u32>,
    pub(super) emit: F,
}

impl<F: FnMut(&Row) -> io::Result<()>> Walk<F> {
    /// The calls at depth 0, with `rows` rows in all: a main program and some callbacks.
    pub(super) fn roots(&mut self, rows: usize) -> Vec<Call> {
        let weights: &[u64] = match rows {
            0 => &[],
            1..64 => &[1],
            _ => &[32, 4, 2, 1],
        };
        let many;
        let weights = if rows > self.depth.root {
            many = vec![1; rows.div_ceil(self.depth.root)];
            &many
        } else {
            weights
        };
        let spare = rows - weights.len();
        split(spare as u64, weights)
            .enumerate()
            .map(|(position, share)| {
                let rows = 1 + index(share);
                let calls = self.own_calls(rows, rows as u64);
                Call {
                    function: self.graph.root(position),
                    rows,
                    calls,
                    all_calls: calls + CALLS_PER_ROW * (rows as u64 - 1),
                    net: rows as u64
                        * (NET_PER_ROW / 2 + self.random.below(index(NET_PER_ROW)) as u64),
                }
            })
            .collect()
    }

    /// Emits the rows of a call. Recursion ends: each level uses up two rows and the plan bounds the
    /// levels.
    pub(super) fn subtree(&mut self, call: &Call, depth: usize) -> io::Result<()> {
        let lines = self.lines(call, depth);
        let callees: Cost = lines
            .iter()
            .map(|line| line.callees_inclusive(self.bias))
            .sum();
        let inclusive = call.inclusive(self.bias);
        let row = Row {
            depth,
            function: call.function,
            line: None,
            size: call.rows - 1,
            calls: call.calls,
            exclusive: Cost {
                // What the lines leave of this belongs to no line: function header, entry and exit.
                picoseconds: inclusive.picoseconds - callees.picoseconds,
                ticks: inclusive.ticks - callees.ticks,
            },
            inclusive,
        };
        (self.emit)(&row)?;
        self.open[call.function] += 1;
        for line in &lines {
            (self.emit)(&Row {
                depth: depth + 1,
                line: Some(line.number),
                size: line.callees.iter().map(|callee| callee.rows).sum(),
                calls: line.calls,
                exclusive: line.exclusive(),
                inclusive: line.exclusive() + line.callees_inclusive(self.bias),
                ..row
            })?;
            for callee in &line.callees {
                self.subtree(callee, depth + 2)?;
            }
        }
        self.open[call.function] -= 1;
        Ok(())
    }

    /// Divides what a call has among its lines and their callees.
    fn lines(&mut self, call: &Call, depth: usize) -> Vec<Line> {
        let below = call.rows - 1;
        let mut lines: Vec<Line> = self
            .line_numbers(call.function, below)
            .into_iter()
            .map(|number| Line {
                number,
                calls: 0,
                picoseconds: 0,
                callees: Vec::new(),
            })
            .collect();
        for rows in self.callee_rows(below - lines.len(), depth) {
            let position = self.random.below(lines.len());
            let line = &mut lines[position];
            let callee = self.callee(call.function, line, rows);
            line.callees.push(callee);
        }
        self.share_calls(call, &mut lines);
        self.share_time(call, &mut lines);
        lines
    }

    /// Which lines were executed, ascending: at most `room`, at least one if there is room.
    fn line_numbers(&mut self, function: usize, room: usize) -> Vec<usize> {
        let known = self.graph.lines(function);
        let wanted = 1 + self.random.below(known).min(self.random.below(known));
        // A remainder too small for a function with lines becomes lines, as far as the function has
        // them.
        let wanted = if room < wanted + 3 { room } else { wanted };
        let mut missing = wanted.min(known).min(room);
        let mut numbers = Vec::with_capacity(missing);
        for position in 0..known {
            if self.random.below(known - position) < missing {
                numbers.push(self.graph.line_number(function, position));
                missing -= 1;
            }
        }
        numbers
    }

    /// Divides `rows` among so many callees: often one, often one that is much larger than the
    /// others.
    fn callee_rows(&mut self, rows: usize, depth: usize) -> Vec<usize> {
        if rows == 0 {
            return Vec::new();
        }
        let most = (rows / 4).clamp(1, MAX_CALLEES);
        let weights: Vec<u64> = if depth >= self.depth.even {
            vec![1; most]
        } else if self.depth.branches > 2 && !self.random.one_in(self.depth.branches)
            || self.depth.branches == 2 && self.random.one_in(2)
        {
            vec![1]
        } else {
            let count = (2 + self.random.below(MAX_CALLEES - 1)).min(most);
            let mut weights: Vec<u64> = (0..count).map(|_| self.random.noise().pow(2)).collect();
            if self.random.one_in(3) {
                weights[self.random.below(count)] += 8 * weights.iter().sum::<u64>();
            }
            weights
        };
        // Two rows are the least for a function with a line; some get only one and become opaque.
        let least = if rows >= 2 * weights.len() && !self.random.one_in(6) {
            2
        } else {
            1
        };
        split((rows - least * weights.len()) as u64, &weights)
            .map(|share| least + index(share))
            .collect()
    }

    /// A callee of `rows` rows for the next free place of a line.
    fn callee(&mut self, caller: usize, line: &Line, rows: usize) -> Call {
        let place = line.callees.len();
        let listed = |function| {
            line.callees
                .iter()
                .any(|callee| callee.function == function)
        };
        for attempt in 0..ATTEMPTS {
            let function = self
                .graph
                .callee(caller, line.number, place + attempt * MAX_CALLEES);
            let function = if rows == 1 {
                self.graph.opaque_near(function)
            } else {
                Graph::transparent_near(function)
            };
            if !listed(function) && self.may_open(caller, function) {
                return Call::unshared(function, rows);
            }
        }
        // Small programs only: the next function of all that will do.
        (1..=self.graph.functions)
            .map(|step| Graph::transparent_near((caller + step) % self.graph.functions))
            .find(|&function| !listed(function))
            .map(|function| Call::unshared(function, rows))
            .expect("there are more functions than callees of a line")
    }

    /// Recursion is where the graph plans it, and by chance in some long cycles.
    fn may_open(&mut self, caller: usize, function: usize) -> bool {
        self.open[function] == 0
            || function == caller
            || function == Graph::partner(caller)
            || self.random.one_in(32)
    }

    /// Shares the calls of the subtree: each row has one, the rest is spread by size and chance.
    fn share_calls(&mut self, call: &Call, lines: &mut [Line]) {
        let mut weights = Vec::new();
        for line in lines.iter() {
            weights.push(self.random.noise());
            for callee in &line.callees {
                weights.push(self.random.noise() * callee.rows as u64);
            }
        }
        let spare = call.all_calls - call.calls - (call.rows as u64 - 1);
        let mut parts = split(spare, &weights);
        let mut part = || parts.next().expect("one weight for each row");
        for line in lines {
            line.calls = 1 + part();
            for callee in &mut line.callees {
                callee.all_calls = callee.rows as u64 + part();
                callee.calls = self.own_calls(callee.rows, callee.all_calls);
            }
        }
    }

    /// How many of all the calls of a subtree its function row has: all if it is the only row.
    fn own_calls(&mut self, rows: usize, all_calls: u64) -> u64 {
        if rows == 1 {
            return all_calls;
        }
        let average = index(all_calls / rows as u64);
        // Twice the average can be more than the others leave, when there are only two rows.
        let most = all_calls - (rows as u64 - 1);
        (1 + self.random.below(2 * average) as u64).min(most)
    }

    /// Shares the net time of the subtree. What no line or callee gets stays with the function row.
    fn share_time(&mut self, call: &Call, lines: &mut [Line]) {
        let mut weights = Vec::new();
        for line in lines.iter() {
            weights.push(self.random.noise());
            for callee in &line.callees {
                weights.push(self.random.noise() * callee.rows as u64);
            }
        }
        weights.push(self.random.noise());
        let mut parts = split(call.net, &weights);
        let mut part = || parts.next().expect("one weight for each row");
        for line in lines {
            let timer = line.ticks() * self.bias;
            let net = part();
            line.picoseconds = if self.random.one_in(CHEAP_LINES) {
                timer - (timer >> (1 + self.random.below(20)))
            } else {
                timer + net
            };
            for callee in &mut line.callees {
                callee.net = part();
            }
        }
    }
}

/// Cuts `total` into one part for each weight. The parts add up to `total` exactly.
fn split(total: u64, weights: &[u64]) -> impl Iterator<Item = u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (mut passed, mut given) = (0, 0);
    weights.iter().map(move |&weight| {
        passed += u128::from(weight);
        let until = u64::try_from(u128::from(total) * passed / sum).expect("passed <= sum");
        let part = until - given;
        given = until;
        part
    })
}

// The program that was profiled: which function has which lines and calls whom

/// How many places of a line are tried before any function will do.
const ATTEMPTS: usize = 12;

/// One function in so many is opaque: it has no line rows (native code, locked functions, other
/// threads).
const OPAQUE: usize = 16;

/// A call graph that is computed, not stored: equal questions get equal answers, so a function
/// called from a line in one place of the tree is called from it in others too.
pub(super) struct Graph {
    pub(super) functions: usize,
    pub(super) seed: u64,
}

impl Graph {
    /// Roots are functions at the unpopular end, all different.
    fn root(&self, position: usize) -> usize {
        Self::transparent_near(self.functions - 1 - 3 * position % self.functions)
    }

    fn lines(&self, function: usize) -> usize {
        let hash = self.hash([function, 1, 0]);
        3 + pick(hash, 7) + if hash.is_multiple_of(4) { 8 } else { 0 }
    }

    /// The number of the nth line. Dfns count from 0, traditional functions from 1; comments leave
    /// gaps.
    fn line_number(&self, function: usize, position: usize) -> usize {
        let hash = self.hash([function, 2, 0]);
        let first = usize::from(!hash.is_multiple_of(3));
        first + position + position * pick(hash, 3) / 2
    }

    /// The function at the nth place of a line: the caller itself, its partner, a neighbour or any
    /// function.
    fn callee(&self, caller: usize, line: usize, place: usize) -> usize {
        let hash = self.hash([caller, 3 + line, place]);
        let chance = pick(hash, 100);
        let next = mix(hash);
        match self.hash([caller / 2, 0, 0]) % 8 {
            0 if chance < 50 => caller,
            1 if chance < 60 => Self::partner(caller).min(self.functions - 1),
            _ if chance < 60 => (caller + 1 + pick(next, 64)) % self.functions,
            _ => self.popular(next),
        }
    }

    /// The other one of a pair of functions that call each other.
    fn partner(function: usize) -> usize {
        function ^ 1
    }

    /// A function by Zipf's law with exponent 1: each power of two of ranks is equally likely. Only
    /// integers, as `pow` may differ from machine to machine.
    fn popular(&self, hash: u64) -> usize {
        let octave = pick(hash, self.functions.ilog2() as usize + 1);
        let first = 1 << octave;
        (first - 1 + pick(mix(hash), first)) % self.functions
    }

    pub(super) fn is_opaque(function: usize) -> bool {
        function % OPAQUE == 5
    }

    fn opaque_near(&self, function: usize) -> usize {
        let opaque = function - function % OPAQUE + 5;
        if opaque < self.functions { opaque } else { 5 }
    }

    fn transparent_near(function: usize) -> usize {
        function - usize::from(Self::is_opaque(function))
    }

    fn hash(&self, words: [usize; 3]) -> u64 {
        words
            .iter()
            .fold(mix(self.seed), |hash, &word| mix(hash ^ word as u64))
    }
}
