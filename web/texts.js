// Names of strangers: how they are shown, compared and given to a shell. And what is said where there is no answer.

/** What cannot be answered, and why. */
export class Unanswered extends Error {}

/** Control characters, and those that have no shape of their own, as `src/text/plain.rs` has them. */
const UNSAFE = /[\p{Cc}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{fdd0}-\u{fdef}\u{feff}\u{ffa0}\u{fff9}-\u{fffb}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/gu;

/** @type {Record<string, string>} */
const ESCAPES = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A text in which nothing changes the order of letters or the lines around it. @param {string} text */
export function plain(text) {
  return text.replace(UNSAFE, (letter) => ESCAPES[letter] ?? `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** The order of SQLite: by code points. @param {string} one @param {string} other */
function compareTexts(one, other) {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) {
      // Pairs of surrogates stand for characters after all that are single.
      const [isPair, isOtherPair] = [(a & 0xf800) === 0xd800, (b & 0xf800) === 0xd800];
      return isPair === isOtherPair ? a - b : isPair ? 1 : -1;
    }
  }
  return one.length - other.length;
}

/** The same things in the order of a first key, and then of others: texts or numbers, nothing first.
 * @template T @param {T[]} things @param {(thing: T) => any} first @param {((thing: T) => any)[]} others @returns {T[]} */
export function inOrder(things, first, others) {
  const compare = (/** @type {any} */ one, /** @type {any} */ other) =>
    one === other ? 0 : one === null ? -1 : other === null ? 1 : typeof one === 'number' ? one - other : compareTexts(one, other);
  const all = things.map((thing) => ({ thing, key: first(thing) }));
  all.sort((one, other) => {
    let found = compare(one.key, other.key);
    for (let at = 0; found === 0 && at < others.length; at++) found = compare(others[at](one.thing), others[at](other.thing));
    return found;
  });
  return all.map(({ thing }) => thing);
}

/** What a line is called. @param {string} name Of its function. @param {string | null} file Where it is not the function's. @param {any} line @param {number | null | undefined} col */
export function lineName(name, file, line, col) {
  return `${name}[${file ? `${file}:` : ''}${line}${col ? `:${col}` : ''}]`;
}

/** A text as SQL has it. @param {string} text */
export function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A word as shells read it. @param {string} word */
export function shellWord(word) {
  return /^[A-Za-z0-9_./:=,+@%^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What a name is shown as. @param {string} name */
export function shown(name) {
  return name === '' ? '(no name)' : plain(name);
}

/** Returns the beginning of a commit (`src/text/judged.rs`): a name that is no hash is not cut. @param {string} commit */
export function shortCommit(commit) {
  return /^[0-9A-Fa-f]+$/.test(commit) ? commit.slice(0, 12) : commit;
}
