//! What each loss excuses, and what shows that something of that sort really was lost.
//!
//! | loss | excuses | is shown by |
//! | --- | --- | --- |
//! | `metric` | name and unit of so many metrics, never a figure | pairs of metrics with another name or unit |
//! | `metrics` | that so many metrics are not there | metrics without a partner |
//! | `totals` | a total, if it is what roots or own costs add up to | totals that are other ones |
//! | `title`, `facts`, `bias`, `labels`, `back_edges`, `back_lines` | nothing of a figure; `bias`: that times come back as measured, by as much for each tick as was subtracted | what is missing, one by one |
//! | `names`, `kinds`, `places`, `modules`, `definitions`, `definition_columns`, `raw_names` | that part of what so many functions go by | functions that go by something else |
//! | `same_name` | that functions of one name are one, with the sum of their own costs | functions that became fewer |
//! | `both` | that threads within roots are functions of their own | threads at the top that are within roots, too |
//! | `absent`, `free` | that functions without a place, or without cost, are not there | functions or places of that sort |
//! | `recorded`, `function_costs`, `function_calls` | own cost, cost with what was called, or calls of functions, if they are not those of the places, which come back instead | functions of that sort |
//! | `cumulative` | cost with what was called, if it is what own costs add up to | places where it is not the sum |
//! | `inclusive`, `outside_calls` | the same, or calls, of so many functions of files without paths | functions with another one |
//! | `calls`, `call_counts` | that calls are unknown; that 0 of them are | known calls that are gone |
//! | `fractions` | half a unit for each place, and each part of a sum, that was rounded | figures that are no whole numbers |
//! | `negative` | what functions cost below 0 | costs below 0 |
//! | `large` | figures above 2^53 | the report alone: a REAL cannot show it |
//! | `unknown`, `unknown_calls` | 0 for an unknown figure, 1 for unknown calls | figures that are unknown |
//! | `lines`, `siblings`, `line_zero`, `line_files`, `line_calls`, `line_places`, `no_line`, `columns`, `paths`, `callers`, `caller_costs`, `recursion`, `no_thread`, `metric_order` | no figure of a function | lines, places or calls of that sort |

use std::collections::{BTreeMap, BTreeSet};

use super::comparison::{Trip, differ};
use super::picture::{Edge, Function, Line, Node, Picture};

/// What shows that something was lost.
enum Evidence {
    /// So many things.
    Exactly(u64),
    /// Something, or nothing.
    Some(bool),
    /// The comparison has counted it.
    Counted,
}

impl Trip<'_> {
    /// What the loss report says and what was lost are the same.
    pub(super) fn judge(&mut self) {
        // All that the format may lose, not what it says to have lost: a loss that is silent is
        // looked for, too.
        for loss in self.losses.clone() {
            let told = self.lost.get(loss).copied().unwrap_or(0);
            let seen = self.seen.get(loss).copied().unwrap_or(0);
            let perhaps = self.perhaps.get(loss).copied().unwrap_or(0);
            let fault = match self.evidence(loss) {
                Evidence::Exactly(count) if count != told => {
                    Some(format!("count: {loss}: {told} told, {count} lost"))
                }
                Evidence::Some(true) if told == 0 => Some(format!("silent: {loss}")),
                Evidence::Some(false) if told > 0 => {
                    Some(format!("idle: {loss}: {told} told, nothing lost"))
                }
                // Of functions that do not come back at all, nobody sees what else they lose.
                Evidence::Counted if told < seen || told > seen + perhaps + self.gone => {
                    Some(format!("count: {loss}: {told} told, {seen} lost"))
                }
                _ => None,
            };
            self.faults.extend(fault);
        }
        let silent: Vec<_> = self
            .seen
            .keys()
            .filter(|loss| !self.losses.contains(*loss))
            .collect();
        let silent: Vec<String> = silent
            .iter()
            .map(|loss| format!("silent: {loss}, which the format does not have"))
            .collect();
        self.faults.extend(silent);
    }

    fn evidence(&self, loss: &str) -> Evidence {
        let (before, after) = (self.before, &self.after);
        let seen = |loss: &str| self.seen.get(loss).copied().unwrap_or(0);
        let told = |loss: &str| self.lost.get(loss).copied().unwrap_or(0);
        let written = || self.metrics.iter().map(|(metric, _)| *metric);
        let calls = || {
            before
                .edges
                .iter()
                .filter(|edge| edge.caller.is_some() && !edge.is_back)
        };
        match loss {
            "lines" => {
                let fewer = before.line_places() > after.line_places();
                // Trees of several threads are one where threads are labels.
                let is_one = self.format == "pprof" && self.left_out > 0;
                let is_told = self.tells("siblings") || self.tells("line_zero") || is_one;
                Evidence::Some(fewer && (self.tells(loss) || !is_told))
            }
            "calls" => {
                // Formats without lines report lost lines, not the calls of these lines.
                let has_lines = self.tells(loss) || !self.tells("lines");
                let known = |picture: &Picture| {
                    let nodes = picture.nodes.iter();
                    let counted = nodes.filter(|node| has_lines || node.line.is_none());
                    counted.filter(|node| node.calls.is_some()).count()
                };
                let functions = |picture: &Picture| {
                    let known = picture.functions.iter().filter(|f| f.calls.is_some());
                    known.count()
                };
                Evidence::Some(if before.is_tree || self.format != "business_rules" {
                    known(before) > known(after)
                } else {
                    functions(before) > functions(after)
                })
            }
            "title" => Evidence::Exactly((before.title != after.title).into()),
            "facts" => {
                let is_bias = |name: &String| name == "timer_bias" && self.losses.contains(&"bias");
                let missing = before
                    .facts
                    .iter()
                    .filter(|(name, text)| !is_bias(name) && after.facts.get(*name) != Some(text));
                Evidence::Exactly(missing.count() as u64)
            }
            "bias" => Evidence::Exactly((before.bias != after.bias).into()),
            "labels" => Evidence::Exactly(before.labels.difference(&after.labels).count() as u64),
            "back_edges" => {
                let back = |picture: &Picture| {
                    picture.edges.iter().filter(|edge| edge.is_back).count() as u64
                };
                Evidence::Exactly(back(before).saturating_sub(back(after)))
            }
            "back_lines" => {
                // One edge comes back for all lines of a caller; it is that without a line, where
                // there is one.
                let mut pairs: BTreeMap<_, bool> = BTreeMap::new();
                let is_placed = |function: usize| before.functions[function].places > 0;
                for edge in before.edges.iter().filter(|edge| edge.is_back) {
                    if is_placed(edge.callee) && edge.caller.is_none_or(is_placed) {
                        let all = pairs.entry((edge.caller, edge.callee)).or_insert(true);
                        *all &= edge.line.is_some();
                    }
                }
                Evidence::Exactly(pairs.values().filter(|all| **all).count() as u64)
            }
            "recorded" => {
                let differs = before.functions.iter().filter(|function| {
                    written().any(|at| {
                        let own = function.walked[at][0];
                        differ(function.costs[at][0].unwrap_or(own), own, 0.0)
                    })
                });
                Evidence::Exactly(if before.is_tree {
                    differs.count() as u64
                } else {
                    0
                })
            }
            // Of functions that are one now, nobody sees which of them has lost what.
            "inclusive" | "outside_calls" | "call_counts" | "function_calls" | "names"
            | "kinds" | "places"
                if self.tells("same_name") =>
            {
                Evidence::Some(seen(loss) > 0 || self.tells(loss))
            }
            // Rounding may hide it.
            "function_costs" => {
                let differs = before.functions.iter().filter(|function| {
                    let is_other = |at: usize| {
                        let all = function.outermost[at];
                        differ(function.costs[at][1].unwrap_or(all), all, 0.0)
                    };
                    !function.is_container() && written().any(is_other)
                });
                Evidence::Exactly(if before.is_tree {
                    differs.count() as u64
                } else {
                    0
                })
            }
            "totals" if self.tells("fractions") => Evidence::Some(self.tells(loss)),
            "metric" | "metrics" | "modules" | "definitions" | "definition_columns"
            | "raw_names" | "same_name" | "absent" | "totals" | "inclusive" | "outside_calls"
            | "call_counts" | "function_calls" | "names" | "kinds" | "places" => Evidence::Counted,
            "siblings" => Evidence::Some(self.has_merged_places()),
            "free" => {
                let main = self.main();
                let is_free = |(at, node): (usize, &Node)| {
                    let function = &before.functions[node.function];
                    let is_thread = node.depth == 0 && function.identity.kind == "thread";
                    // Lines are rounded so that they add up to their function's cost.
                    let is_free_line = self.format == "business_rules" && node.costs[main].0 < 1.0;
                    match node.line {
                        None => !is_thread && (node.sums[main] < 0.5 || self.is_nothing_from(at)),
                        Some(_) => is_free_line,
                    }
                };
                let is_unpaid =
                    |function: &Function| function.costs[main][0].is_none_or(|own| own < 0.5);
                let is_unpaid_line = |line: &Line| line.costs[main][0].is_none_or(|own| own < 0.5);
                Evidence::Some(
                    told("free") > 0
                        && (before.nodes.iter().enumerate().any(is_free)
                            || (!before.is_tree
                                && (before.functions.iter().any(is_unpaid)
                                    || before.lines.iter().any(is_unpaid_line)))),
                )
            }
            "cumulative" => {
                let differs = |node: &Node| {
                    node.line.is_none()
                        && written().any(|at| {
                            differ(
                                node.costs[at].1.unwrap_or(node.costs[at].0),
                                node.sums[at],
                                0.0,
                            )
                        })
                };
                Evidence::Some(before.nodes.iter().any(differs))
            }
            "negative" => {
                let all = self.format == "lispworks_tree";
                let is_negative = |node: &Node| match (node.line.is_none(), all) {
                    (true, true) => {
                        written().any(|at| node.costs[at].1.is_some_and(|cost| cost < 0.0))
                    }
                    (true, false) => written().any(|at| node.costs[at].0 < 0.0),
                    (false, _) => false,
                };
                let mut functions = before.functions.iter().filter(|_| all);
                let is_below = functions.any(|function| {
                    written().any(|at| {
                        [function.costs[at][0], function.seen[at]]
                            .into_iter()
                            .flatten()
                            .any(|cost| cost < 0.0)
                    })
                });
                let exceeds = before
                    .functions
                    .iter()
                    .any(|function| written().any(|at| self.negative(function, at) > 0.0));
                let is_frame = ["speedscope", "business_rules"].contains(&self.format);
                let found = before.nodes.iter().any(is_negative) || is_below;
                Evidence::Some(if is_frame {
                    exceeds && self.tells(loss)
                } else {
                    found
                })
            }
            // What is rounded and not told of, the figures show.
            "fractions" => {
                Evidence::Some(self.tells(loss) && written().any(|at| self.has_fractions(at)))
            }
            "unknown" => Evidence::Some(self.tells(loss) && self.has_unknown()),
            "unknown_calls" => Evidence::Exactly(
                calls()
                    .filter(|edge| edge.calls.is_none_or(|calls| calls == 0))
                    .count() as u64,
            ),
            "caller_costs" => Evidence::Exactly(
                calls()
                    .filter(|edge| written().any(|at| edge.costs[at][0].is_some()))
                    .count() as u64,
            ),
            "recursion" => {
                let is_lost = |edge: &Edge| {
                    self.metrics.iter().any(|(before, after)| {
                        edge.costs[*before][1].is_some()
                            && !self.keeps_cumulative(edge, *before, *after)
                    })
                };
                let is_one = self.tells("same_name") && !self.tells(loss);
                Evidence::Some(calls().any(is_lost) && !is_one)
            }
            "paths" => Evidence::Exactly(before.nodes.len() as u64),
            "callers" => Evidence::Exactly(if before.is_tree {
                0
            } else {
                before.edges.len() as u64
            }),
            "columns" if self.format == "business_rules" => {
                let is_large = |line: &Line| line.col > 255 && (1..100_000).contains(&line.line);
                Evidence::Some(
                    self.tells(loss) || !before.is_tree && before.lines.iter().any(is_large),
                )
            }
            // A line that the run does not have.
            "no_line" => {
                let mut known = BTreeSet::new();
                for line in &before.lines {
                    known.insert((self.became[line.function], line.line));
                }
                let is_new = |line: &Line| !known.contains(&(Some(line.function), line.line));
                let has_none = before.nodes.iter().any(|node| node.line.is_none());
                Evidence::Some(
                    after.lines.iter().any(is_new)
                        || (self.tells(loss) && (has_none || !before.is_tree)),
                )
            }
            "columns" => {
                let lines = before.lines.iter().any(|line| line.col != 0);
                Evidence::Some(lines || calls().any(|edge| edge.col != 0))
            }
            "line_zero" => {
                let nodes = before
                    .nodes
                    .iter()
                    .any(|node| node.line.as_ref().is_some_and(|(_, line, _)| *line == 0));
                let lines = before.lines.iter().any(|line| line.line == 0);
                Evidence::Some(
                    nodes
                        || (lines || calls().any(|edge| edge.line == Some(0)))
                            && self.format == "callgrind",
                )
            }
            "line_calls" => Evidence::Exactly(
                before
                    .lines
                    .iter()
                    .filter(|line| line.calls.is_some())
                    .count() as u64,
            ),
            "line_files" => {
                let nodes = before.nodes.iter().filter_map(|node| node.line.as_ref());
                let lines = before.lines.iter().map(|line| &line.file);
                let nodes = nodes
                    .map(|(file, _, _)| file)
                    .filter(|file| !file.is_empty());
                let lines = lines.filter(|file| !file.is_empty() && !before.is_tree);
                Evidence::Exactly((nodes.count() + lines.count()) as u64)
            }
            "line_places" => {
                let lines = before
                    .lines
                    .iter()
                    .filter(|line| !line.file.is_empty() || line.col != 0);
                Evidence::Some(lines.count() > 0)
            }
            "metric_order" => {
                let mut places: Vec<usize> = self.metrics.iter().map(|(_, after)| *after).collect();
                places.dedup();
                Evidence::Exactly((!places.is_sorted()).into())
            }
            "both" => Evidence::Exactly(self.twins as u64),
            "no_thread" => {
                let is_thread =
                    |node: &Node| before.functions[node.function].identity.kind == "thread";
                let roots = before
                    .nodes
                    .iter()
                    .filter(|node| node.depth == 0 && !is_thread(node));
                Evidence::Exactly(roots.count() as u64)
            }
            _ => Evidence::Some(self.tells(loss)),
        }
    }

    /// Whether places with the same callers have become one: they have the same name, or line.
    fn has_merged_places(&self) -> bool {
        let keeps_lines =
            ["pprof", "speedscope", "firefox", "business_rules"].contains(&self.format);
        // By place: the place that it is one with.
        let mut merged: Vec<usize> = Vec::new();
        let mut first = BTreeMap::new();
        let mut is_merged = false;
        // What is not there itself may be there as another one.
        let functions = self.became.iter().zip(&self.before.functions);
        let others: BTreeMap<_, _> = functions
            .filter_map(|(after, function)| {
                after.map(|after| (self.key(&function.identity), after))
            })
            .collect();
        let before = self.before;
        for (at, node) in self.before.nodes.iter().enumerate() {
            let above = node.parent.map(|parent| merged[parent]);
            if node.line.is_some() && !keeps_lines {
                merged.push(above.unwrap_or(at));
                continue;
            }
            let line = node
                .line
                .as_ref()
                .map(|(_, line, col)| (*line, *col))
                .unwrap_or_default();
            let function = self.became[node.function]
                .ok_or_else(|| self.key(&before.functions[node.function].identity));
            let function = function.or_else(|key| others.get(&key).copied().ok_or(key));
            // A thread is no frame, whatever it is called.
            let is_thread = self.format == "sampler"
                && node.depth == 0
                && before.functions[node.function].identity.kind == "thread";
            let one = *first
                .entry((above, function, line, is_thread))
                .or_insert(at);
            // The line 0 is none: the place is its function's.
            is_merged |= one != at;
            merged.push(one);
        }
        is_merged
    }

    /// Returns true if a cost in a metric is not a whole number of the exported unit.
    fn has_fractions(&self, metric: usize) -> bool {
        let scale = self.scale(metric);
        let is_part = |cost: f64| (cost / scale).fract() != 0.0;
        let before = self.before;
        let nodes = before.nodes.iter().flat_map(|node| {
            let (own, all) = node.costs[metric];
            [Some(own), all]
        });
        let functions = before.functions.iter().flat_map(|function| {
            function.costs[metric]
                .into_iter()
                .chain([function.seen[metric]])
        });
        let lines = before.lines.iter().flat_map(|line| line.costs[metric]);
        let edges = before.edges.iter().flat_map(|edge| edge.costs[metric]);
        let total = Some(before.metrics[metric].total);
        nodes
            .chain(functions)
            .chain(lines)
            .chain(edges)
            .chain([total])
            .flatten()
            .any(is_part)
    }

    /// Whether a figure is unknown.
    fn has_unknown(&self) -> bool {
        let before = self.before;
        let functions = before.functions.iter().flat_map(|function| &function.costs);
        let lines = before.lines.iter().flat_map(|line| &line.costs);
        let costs = functions
            .chain(lines)
            .any(|costs| costs.iter().any(Option::is_none));
        let edges = before
            .edges
            .iter()
            .flat_map(|edge| &edge.costs)
            .any(|costs| costs[2].is_none());
        let mut seen = before.functions.iter().flat_map(|function| &function.seen);
        costs
            || edges
            || seen.any(Option::is_none)
            || before.nodes.iter().any(|node| node.calls.is_none())
    }

    /// Whether what a caller spent in a callee, recursion counted once, is what it was.
    fn keeps_cumulative(&self, edge: &Edge, before: usize, after: usize) -> bool {
        let Some(caller) = edge.caller else {
            return true;
        };
        let pair = (self.became[caller], self.became[edge.callee]);
        let line = edge.line.filter(|line| *line != 0);
        let mut found = self
            .after
            .edges
            .iter()
            .filter(|other| (other.caller, Some(other.callee)) == pair && other.line == line);
        let by = self.tolerance_of_sums(edge.costs[before][1].unwrap_or(0.0), before);
        found.any(
            |other| match (edge.costs[before][1], other.costs[after][1]) {
                (Some(one), Some(other)) => !differ(one, other, by),
                _ => false,
            },
        )
    }

    /// The metric that is written, or the first of them.
    fn main(&self) -> usize {
        let metrics = &self.before.metrics;
        let asked = self
            .asked
            .and_then(|name| metrics.iter().position(|metric| metric.name == name));
        asked
            .or_else(|| metrics.iter().position(|metric| metric.is_default))
            .unwrap_or(0)
    }
}
