// What a path selects of a tree, and what that adds up to (`src/report/selection.rs`, `src/report/nodes/add_up.rs`).
import { Tree } from './profile.js';

/** @typedef {{operator: ',' | '>', functions: number[]}} Picked */
/** @typedef {{places: number[], outermost: number[]}} Selected Places that a path leads to, and those that are in no other one. */
/** @typedef {{calls: number, exclusive: number, cumulative: number, seen: number}} Sums */
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

/** Adds up by some number of each place; recursion counts once.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {[number, number][]} ranges
 * @param {(place: number) => number} key -1 for places that do not count @param {number} keys
 * @returns {Map<number, Sums>} */
export function addUp(tree, costs, ranges, key, keys) {
  const open = new Int32Array(keys).fill(-1);
  /** @type {Sums[]} */
  const known = Array(keys);
  /** @type {Map<number, Sums>} */
  const sums = new Map();
  for (const [first, last] of ranges) {
    for (let place = first; place <= last; place++) {
      const of = key(place);
      if (of < 0) continue;
      let sum = known[of];
      if (!sum) sums.set(of, (known[of] = sum = { calls: 0, exclusive: 0, cumulative: 0, seen: 0 }));
      sum.calls += tree.calls[place];
      sum.exclusive += costs.own[place];
      sum.seen += costs.all[place];
      if (place > open[of]) {
        open[of] = tree.last[place];
        sum.cumulative += costs.all[place];
      } else if (Number.isNaN(costs.all[place])) {
        sum.cumulative = NaN;
      }
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

/** Adds a call to those of one function from one line.
 * @param {Map<string, CallSums & {caller: number}>} sums @param {number} of @param {number} caller @param {[string, number, number]} place @param {number} calls @param {number} own @param {number} all */
function addCall(sums, of, caller, [file, line, col], calls, own, all) {
  const name = `${of} ${caller} ${line} ${col} ${file}`;
  let sum = sums.get(name);
  if (!sum) sums.set(name, (sum = { function: of, caller, file, line, col, calls: 0, exclusive: 0, cumulative: 0 }));
  sum.calls += calls;
  sum.exclusive += own;
  sum.cumulative += all;
}

/** Who called what is selected: function -1 for the root, line -1 if it is unknown.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {Selected} selected
 * @param {LinePlaces} lines @param {(at: number) => boolean} isCode */
export function callersOf(tree, costs, selected, lines, isCode) {
  /** @type {Map<string, CallSums & {caller: number}>} */
  const sums = new Map();
  const outermost = new Set(selected.outermost);
  for (const place of selected.places) {
    const above = tree.parent[place];
    const isKnown = above >= 0 && isCode(tree.function[above]);
    const line = isKnown ? tree.line[above] : -1;
    addCall(sums, isKnown ? tree.function[above] : -1, -1, placeOf(line, lines), tree.calls[place], costs.own[place], outermost.has(place) ? costs.all[place] : 0);
  }
  return [...sums.values()];
}

/** Whom it called, with the line of the caller: on each path a function counts once, at the outer call.
 * @param {Tree} tree @param {{own: Float64Array, all: Float64Array}} costs @param {Selected} selected
 * @param {LinePlaces} lines @param {number} functions */
export function calleesOf(tree, costs, selected, lines, functions) {
  /** @type {Map<string, CallSums & {caller: number}>} */
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
      addCall(sums, of, tree.function[caller], placeOf(tree.line[tree.parent[place]], lines), tree.calls[place], costs.own[place], isOuter ? costs.all[place] : 0);
    }
  }
  return [...sums.values()];
}
