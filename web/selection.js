// What a path selects of a tree, and what that adds up to (`src/report/selection.rs`, `src/report/nodes/add_up.rs`).
import { Tree } from './profile.js';
import { Sums } from './sums.js';

/** @typedef {{operator: ',' | '>', functions: number[]}} Picked */
/** @typedef {{places: number[], outermost: number[]}} Selected Places that a path leads to, and those that are in no other one. */
/** @typedef {{function: number, file: string, line: number, col: number, calls: number, exclusive: number, cumulative: number}} CallSums */

/** Those of places in order that are in no other one. @param {Tree} tree @param {number[]} places */
function outermostOf(tree, places) {
  let end = -1;
  return places.filter((place) => {
    if (place <= end) return false;
    end = tree.last[place];
    return true;
  });
}

/** Follows a path: `,` takes what is strictly within the outermost places so far, `>` what any of them has called.
 * @param {Tree} tree @param {Picked[]} steps @returns {Selected} */
export function follow(tree, steps) {
  /** @type {number[]} */
  let places = [];
  steps.forEach(({ operator, functions }, at) => {
    const wanted = new Set(functions);
    const isWanted = (/** @type {number} */ place) => tree.line[place] < 0 && wanted.has(tree.function[place]);
    let found = [];
    if (at === 0) {
      found = tree.placesOf(wanted);
    } else if (operator === ',') {
      for (const outer of outermostOf(tree, places)) {
        for (let place = outer + 1; place <= tree.last[outer]; place++) if (isWanted(place)) found.push(place);
      }
    } else {
      const callers = new Set(places);
      for (const outer of outermostOf(tree, places)) {
        for (let place = outer + 1; place <= tree.last[outer]; place++) {
          if (isWanted(place) && callers.has(tree.caller(place))) found.push(place);
        }
      }
    }
    places = found;
  });
  return { places, outermost: outermostOf(tree, places) };
}

/** Adds up functions, or lines, within some places, none of which is in another one; recursion counts once.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {number[]} outermost
 * @param {'functions' | 'lines'} what @param {number} most How many of these there are. @returns {Sums} */
export function addUp(tree, costs, outermost, what, most) {
  const open = new Int32Array(most).fill(-1);
  const sums = new Sums(most);
  const { keys, isMet, calls, exclusive, cumulative, seen } = sums;
  const { own, all } = costs;
  const { line, last } = tree;
  const numbers = what === 'lines' ? line : tree.function;
  const isLines = what === 'lines';
  const times = tree.calls;
  // One loop: browsers that see loops of a few rounds within one of many make both of them slow.
  let [roots, next, end] = [0, 0, -1];
  for (;;) {
    if (next > end) {
      if (roots === outermost.length) break;
      next = outermost[roots++];
      end = last[next];
    }
    const place = next++;
    if (isLines !== line[place] >= 0) continue;
    const of = numbers[place];
    if (isMet[of] === 0) {
      isMet[of] = 1;
      keys.push(of);
    }
    calls[of] += times[place];
    exclusive[of] += own[place];
    seen[of] += all[place];
    if (place > open[of]) {
      open[of] = last[place];
      cumulative[of] += all[place];
    } else if (Number.isNaN(all[place])) {
      cumulative[of] = NaN;
    }
  }
  return sums;
}

/** @typedef {{file: string[], line: Float64Array, col: Float64Array}} LinePlaces */

/** Where a line is: file, '' for its function's own; number, -1 if there is no line; and column.
 * @param {number} line @param {LinePlaces} lines @returns {[string, number, number]} */
function placeOf(line, lines) {
  return line < 0 ? ['', -1, 0] : [lines.file[line], lines.line[line], lines.col[line]];
}

/** Adds a call to those of one function from one line. A line is of one function: they tell calls apart by one number.
 * @param {Map<number, CallSums & {caller: number}>} sums @param {number} key @param {number} of @param {number} caller @param {number} at The line. @param {LinePlaces} lines @param {number} calls @param {number} own @param {number} all */
function addCall(sums, key, of, caller, at, lines, calls, own, all) {
  let sum = sums.get(key);
  if (!sum) {
    const [file, line, col] = placeOf(at, lines);
    sums.set(key, (sum = { function: of, caller, file, line, col, calls: 0, exclusive: 0, cumulative: 0 }));
  }
  sum.calls += calls;
  sum.exclusive += own;
  sum.cumulative += all;
}

/** Who called what is selected: function -1 for the root, line -1 if it is unknown.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {Selected} selected
 * @param {LinePlaces} lines @param {(at: number) => boolean} isCode */
export function callersOf(tree, costs, selected, lines, isCode) {
  /** @type {Map<number, CallSums & {caller: number}>} */
  const sums = new Map();
  const outermost = new Set(selected.outermost);
  for (const place of selected.places) {
    const above = tree.parent[place];
    const isKnown = above >= 0 && isCode(tree.function[above]);
    const line = isKnown ? tree.line[above] : -1;
    const of = isKnown ? tree.function[above] : -1;
    // Those of the root, and of functions whose line is unknown, are below 0.
    addCall(sums, line >= 0 ? line : -2 - of, of, -1, line, lines, tree.calls[place], costs.own[place], outermost.has(place) ? costs.all[place] : 0);
  }
  return [...sums.values()];
}

/** Whom it called, with the line of the caller: on each path a function counts once, at the outer call.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {Selected} selected
 * @param {LinePlaces} lines @param {number} functions */
export function calleesOf(tree, costs, selected, lines, functions) {
  /** @type {Map<number, CallSums & {caller: number}>} */
  const sums = new Map();
  const callers = new Set(selected.places);
  const open = new Int32Array(functions + 1).fill(-1);
  for (const outer of selected.outermost) {
    for (let place = outer + 1; place <= tree.last[outer]; place++) {
      if (tree.line[place] >= 0) continue;
      const caller = tree.caller(place);
      if (!callers.has(caller)) continue;
      const of = tree.function[place];
      const isOuter = place > open[of];
      if (isOuter) open[of] = tree.last[place];
      const [from, line] = [tree.function[caller], tree.line[tree.parent[place]]];
      const key = (line >= 0 ? functions + 1 + line : from) * (functions + 1) + of;
      addCall(sums, key, of, from, line, lines, tree.calls[place], costs.own[place], isOuter ? costs.all[place] : 0);
    }
  }
  return [...sums.values()];
}
