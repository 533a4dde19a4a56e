//! Strongly connected components of a call graph: functions that call each other, directly or
//! through others, belong together. Between two components there is no recursion.

/// Marks a function that has no number yet.
const NONE: u32 = u32::MAX;

/// The component of each function; equal numbers belong together. Takes time and room in proportion
/// to functions and calls, and no stack of its own, however long a chain of calls is.
pub(crate) fn components(functions: usize, calls: &[(u32, u32)]) -> Vec<u32> {
    let (starts, callees) = by_caller(functions, calls);
    // After Tarjan: `met` counts functions in the order in which a walk meets them, and `lowest` is
    // the first one met that can be reached from a function and has no component yet.
    let mut met = vec![NONE; functions];
    let mut lowest = vec![NONE; functions];
    let mut component = vec![NONE; functions];
    // `next` is where a walk goes on among the callees of each function, and takes the place of
    // recursion: chains of calls may be as long as there are functions.
    let mut next = starts.clone();
    let (mut walk, mut pending) = (Vec::new(), Vec::new());
    let (mut count, mut found) = (0, 0);
    for root in 0..functions {
        if met[root] == NONE {
            walk.push(root);
        }
        while let Some(&at) = walk.last() {
            // A function is marked as soon as it is on top of the walk, which is right after it was
            // pushed: none is pushed twice.
            if met[at] == NONE {
                (met[at], lowest[at]) = (count, count);
                count += 1;
                pending.push(at);
            }
            if next[at] < starts[at + 1] {
                let callee = callees[next[at]] as usize;
                next[at] += 1;
                if met[callee] == NONE {
                    walk.push(callee);
                } else if component[callee] == NONE {
                    // A callee that has a component reaches nothing that is still open, or it would
                    // have none yet.
                    lowest[at] = lowest[at].min(met[callee]);
                }
                continue;
            }
            walk.pop();
            if let Some(&above) = walk.last() {
                lowest[above] = lowest[above].min(lowest[at]);
            }
            if lowest[at] == met[at] {
                // From here no function met earlier can be reached: what has been met since and has
                // no component is one.
                while let Some(member) = pending.pop() {
                    component[member] = found;
                    if member == at {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

/// Where the callees of each function start, and the callees.
fn by_caller(functions: usize, calls: &[(u32, u32)]) -> (Vec<usize>, Vec<u32>) {
    // One more than there are functions, so that the callees of the last one have an end, too.
    let mut starts = vec![0; functions + 1];
    for (caller, _) in calls {
        starts[*caller as usize + 1] += 1;
    }
    for at in 0..functions {
        starts[at + 1] += starts[at];
    }
    let mut callees = vec![0; calls.len()];
    let mut next = starts.clone();
    for (caller, callee) in calls {
        let at = &mut next[*caller as usize];
        callees[*at] = *callee;
        *at += 1;
    }
    (starts, callees)
}
