// What the page shows, in the fragment of its address: the command's own flags, and how they are looked at. The browser's
// history is the history of questions.

/** @typedef {Record<string, string>} State */

/** Flags of commands, and after them what only the page knows, with what is meant where it is left out. */
const USUAL = {
  view: 'panes',
  report: 'summary',
  run: '',
  metric: '',
  fn: '',
  exclusive: '',
  'percent-of': 'total',
  functions: 'pie',
  lines: 'table',
  function: '',
  'line-of': '',
  line: '',
  blank: 'shown',
  uncalled: 'shown',
  window: '',
  layout: 'icicle',
  order: 'cost',
  search: '',
  place: '',
  module: '',
  status: 'all',
  verdict: '',
  width: 'both',
  colour: '',
  point: '',
  zero: '',
  sql: '',
  base: '',
  new: '',
};

/** What is shown where the address says nothing. @param {string} view */
export function usualView(view) {
  USUAL.view = view;
}

/** @param {string} fragment @returns {State} */
export function readState(fragment) {
  /** @type {State} */
  const state = { ...USUAL };
  for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ''))) {
    if (Object.hasOwn(USUAL, key)) state[key] = value;
  }
  return state;
}

/** @param {State} state */
export function writeState(state) {
  const given = new URLSearchParams();
  for (const [key, usual] of Object.entries(USUAL)) if (state[key] !== usual) given.set(key, state[key]);
  return `#${given}`;
}
