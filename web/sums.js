// Figures of functions or of lines as columns: there may be many, of which few are shown.

/** @typedef {{calls: number, exclusive: number, cumulative: number, seen: number}} Figures `NaN` for what is unknown. */

/** Figures by number. */
export class Sums {
  /** @param {number} most How many numbers there are. */
  constructor(most) {
    /** The numbers that have figures, as they were met. @type {number[]} */
    this.keys = [];
    this.isMet = new Uint8Array(most);
    this.calls = new Float64Array(most);
    this.exclusive = new Float64Array(most);
    this.cumulative = new Float64Array(most);
    this.seen = new Float64Array(most);
  }

  /** @param {number} key @returns {Figures | undefined} */
  get(key) {
    if (!this.isMet[key]) return undefined;
    return { calls: this.calls[key], exclusive: this.exclusive[key], cumulative: this.cumulative[key], seen: this.seen[key] };
  }

  /** @param {number} key @param {number} calls @param {number} exclusive @param {number} cumulative @param {number} seen */
  set(key, calls, exclusive, cumulative, seen) {
    if (!this.isMet[key]) this.keys.push(key);
    this.isMet[key] = 1;
    [this.calls[key], this.exclusive[key], this.cumulative[key], this.seen[key]] = [calls, exclusive, cumulative, seen];
  }
}

/** Those that cost most, in their order: so many, and others that cost as much as the last of them. What is unknown costs least.
 * @template T @param {T[]} all @param {(one: T) => number} costOf @param {number} count @returns {T[]} */
export function mostOf(all, costOf, count) {
  if (all.length <= count) return all;
  const costs = new Float64Array(all.length);
  for (let at = 0; at < all.length; at++) {
    const cost = costOf(all[at]);
    costs[at] = Number.isNaN(cost) ? -Infinity : cost;
  }
  const least = costs.toSorted()[all.length - count];
  return all.filter((_, at) => costs[at] >= least);
}
