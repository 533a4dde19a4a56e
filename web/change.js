// How change looks: more is orange and has a plus, less is blue and has a minus, so that nobody needs the colours.
import { make, span } from './dom.js';
import { probability, ratioText, reachOf, SIGNS } from './judged.js';
import { rounded } from './numbers.js';

/** @typedef {import('./judged.js').Ratio} Ratio */

/** Whether a verdict is of more, or of less. @param {string | null} verdict */
export function directionOf(verdict) {
  if (verdict === 'slower' || verdict === 'new') return 'more';
  return verdict === 'faster' || verdict === 'gone' ? 'less' : '';
}

/** A verdict with its sign. @param {string | null} verdict */
export function verdictMark(verdict) {
  if (!verdict) return span('verdict', '');
  return make('span', { class: `verdict ${directionOf(verdict)}` }, make('span', { class: 'sign', 'aria-hidden': 'true', text: SIGNS[verdict] ?? '' }), verdict);
}

/** A change with its sign. @param {import('./numbers.js').Scale} scale @param {number} value */
export function signed(scale, value) {
  const text = rounded(scale, Math.abs(value));
  if (!/[1-9]/.test(text)) return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** How wide an interval is drawn, and from which ratio to which. */
const [WIDE, MOST] = [120, 2];

/** A ratio with its interval on a scale on which twice and half are as far from 1.
 * @param {Ratio} of @param {string} direction */
export function intervalMark(of, direction) {
  const { ratio } = of;
  const reach = reachOf(of);
  const x = (/** @type {number} */ value) => {
    const part = Math.log(Math.max(value, 1e-9)) / Math.log(MOST);
    return WIDE / 2 + (Math.max(-1, Math.min(1, part)) * (WIDE - 8)) / 2;
  };
  const mark = make('svg', { class: `interval ${direction}`, viewBox: `0 0 ${WIDE} 16`, width: WIDE, height: 16, 'aria-hidden': 'true' });
  mark.append(make('path', { class: 'one', d: `M${WIDE / 2} 1V15` }));
  if (reach !== null) mark.append(make('path', { class: 'reach', d: `M${x(reach[0])} 8H${x(reach[1])}` }));
  if (ratio !== null) mark.append(make('circle', { cx: x(ratio), cy: 8, r: 3.5 }));
  return mark;
}

/** Columns of a table of changes: ratio, interval and probability. @param {(row: any) => string} direction @returns {import('./table.js').Column[]} */
export function testColumns(direction) {
  return [
    { title: 'Ratio (95 %)', value: (row) => row.ratio, show: (_, row) => ratioText(row) },
    { title: '÷2 … ×2', draw: (row) => intervalMark(row, direction(row)) },
    { title: 'q', value: (row) => row.q, show: probability },
  ];
}

/** A bar to the right of the middle for more, to the left for less. @param {number} part From -1 to 1. */
export function changeBar(part) {
  const bar = make('span', { class: `change-bar ${part < 0 ? 'less' : 'more'}`, 'aria-hidden': 'true' });
  const size = Math.min(Math.abs(part), 1) * 50;
  bar.style.left = `${part < 0 ? 50 - size : 50}%`;
  bar.style.width = `${size}%`;
  return bar;
}
