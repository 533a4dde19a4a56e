// Answers of commands that the page has as they are: the rows of `--format json`, and the trees of two sides as one.
import { Reader, block } from './bytes.js';
import { offerTexts } from './rows.js';
import { Unanswered, shellWord } from './texts.js';

/** @typedef {{view: string, words: string[], sql: string | null, lines: string[]}} ToldAbout */

/** An answer of a command. */
export class Told {
  /** @param {ToldAbout} about @param {number} at */
  constructor(about, at) {
    this.about = about;
    this.view = about.view;
    this.at = at;
    /** @type {Promise<any> | null} */
    this.kept = null;
  }

  /** The command that gives it. */
  get command() {
    return ['profdb', ...this.about.words].map(shellWord).join(' ');
  }

  /** The statement of the command, where it has one. @returns {string | null | Promise<string | null>} */
  statement() {
    return this.about.sql;
  }

  /** What the command writes in a format. @param {string} format @returns {Promise<string>} */
  async text(format) {
    const bytes = await block(`told/${this.at}/${format}`);
    if (bytes === null) throw new Unanswered('The page had no room for this; the command prints it.');
    return new TextDecoder().decode(bytes);
  }

  /** The object that the command writes. @returns {Promise<any>} */
  answer() {
    this.kept ??= this.text('json').then(JSON.parse);
    return this.kept;
  }
}

/** Said where there is no statement. */
const NO_SQL = '-- These files are not in a database. After profdb import, profdb diff --show-sql prints the statements.\n';

/** What an answer offers. @param {{view: string, command: string, text: (format: import('./offer.js').Format) => Promise<string>}} told @param {() => string | null | Promise<string | null>} sql */
export function offersOfTold(told, sql) {
  return offerTexts(told.view, [
    ['Command', 'txt', () => `${told.command}\n`],
    ['SQL', 'sql', async () => (await sql()) ?? NO_SQL],
    ['JSON', 'json', () => told.text('json')],
    ['CSV', 'csv', () => told.text('csv')],
    ['Markdown', 'md', () => told.text('markdown')],
  ]);
}

/** @typedef {{about: any, count: number, depth: Int32Array, item: Int32Array, parent: Int32Array, last: Int32Array, own: [Float64Array, Float64Array], all: [Float64Array, Float64Array], status: ('new' | 'gone' | 'both')[], names: {name: string[], module: string[], file: string[], verdict: (string | null)[]}}} Union Place -1 is above roots. */

/** The trees of two sides as one. @param {any} about @param {(name: string) => Promise<Uint8Array | null>} [get] Gives a block; those of the page without it. @returns {Promise<Union>} */
export async function unionOf(about, get = (name) => block(`union/${name}`)) {
  const names = JSON.parse(new TextDecoder().decode(/** @type {Uint8Array} */ (await get('names'))));
  const [steps, items, base, fresh] = await Promise.all(['steps', 'items', 'own-0', 'own-1'].map(async (name) => new Reader(await get(name))));
  const count = about.places;
  const whole = () => new Int32Array(count);
  const [depth, item, parent, last] = [whole(), whole(), whole(), whole()];
  /** @type {[Float64Array, Float64Array]} */
  const own = [new Float64Array(count), new Float64Array(count)];
  /** @type {('new' | 'gone' | 'both')[]} */
  const status = [];
  const open = [-1];
  let level = 0;
  for (let at = 0; at < count; at++) {
    level += 1 - steps.number();
    depth[at] = level;
    item[at] = items.number();
    parent[at] = open[level];
    open[level + 1] = at;
    last[at] = at;
    // An unknown cost is that of a side without the place.
    const [one, other] = [base.cost(), fresh.cost()];
    status.push(Number.isNaN(one) ? 'new' : Number.isNaN(other) ? 'gone' : 'both');
    own[0][at] = one || 0;
    own[1][at] = other || 0;
  }
  /** @type {[Float64Array, Float64Array]} */
  const all = [own[0].slice(), own[1].slice()];
  for (let at = count - 1; at >= 0; at--) {
    const above = parent[at];
    if (above < 0) continue;
    if (last[above] < last[at]) last[above] = last[at];
    all[0][above] += all[0][at];
    all[1][above] += all[1][at];
  }
  return { about, count, depth, item, parent, last, own, all, status, names };
}
