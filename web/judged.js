// What was judged, in words: verdicts, ratios with their intervals, and odds, as `src/text/judged.rs` has them.
import { fixed } from './numbers.js';

/** Signs of all verdicts, in the order in which these are offered. A test holds them to the program's. */
export const SIGNS = /** @type {Record<string, string>} */ ({ slower: '+', faster: '−', new: '+', gone: '−', shifted: '⇄', same: '=', unclear: '?' });

/** @typedef {{ratio: number | null, ratio_low: number | null, ratio_high: number | null}} Ratio */

/** The ends of an interval that is not that of all ratios, `null` for none. @param {Ratio} of @returns {[number, number] | null} */
export function reachOf({ ratio_low: low, ratio_high: high }) {
  return (low ?? 0) > 0 || high !== null ? [low ?? 0, high ?? Infinity] : null;
}

/** A ratio with two digits or more that are not 0. @param {number} value */
function bound(value) {
  return fixed(value, 2 + [1, 0.1, 0.01, 0.001].filter((least) => value < least).length);
}

/** The interval of a ratio, or the bound where there is none, as `src/text/judged.rs` has it: a test holds the two equal. @param {Ratio} of */
export function intervalText(of) {
  const reach = reachOf(of);
  if (reach === null) return '';
  const [low, high] = reach;
  const isOpen = high === Infinity;
  if (of.ratio === null) return isOpen ? `(${bound(low)}..)` : `(0..${bound(high)})`;
  const isWide = isOpen || Math.abs(high - low) > Number.EPSILON * high;
  return isWide ? `(${fixed(low, 2)}..${isOpen ? '' : fixed(high, 2)})` : '';
}

/** `1.27 (1.19..1.35)`. @param {Ratio} of */
export function ratioText(of) {
  const interval = intervalText(of);
  return of.ratio === null ? interval || '-' : `${fixed(of.ratio, 2)} ${interval}`.trimEnd();
}

/** A probability as the command line has it: `.031`, `<.001`. @param {number | null} value */
export function probability(value) {
  if (value === null || value === undefined) return '-';
  return value < 0.001 ? '<.001' : fixed(value, 3).replace(/^0/, '');
}
