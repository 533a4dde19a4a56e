// Blocks of the page: compressed bytes in base64, as `src/page/column.rs` and `src/page/document.rs` write them.
import { isServed, servedBlock } from './served.js';

/** @param {string} text @returns {Uint8Array} */
function decoded(text) {
  const known = /** @type {any} */ (Uint8Array);
  if (known.fromBase64) return known.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** The bytes of a block; `null` if the page has none of this name.
 * @param {string} name @returns {Promise<Uint8Array | null>} */
export async function block(name) {
  if (isServed()) return servedBlock(name);
  const pieces = document.querySelectorAll(`script[data-block="${name}"]`);
  if (pieces.length === 0) return null;
  const bytes = Array.from(pieces, (piece) => decoded(piece.textContent ?? ''));
  const unpacked = new Blob(/** @type {any} */ (bytes)).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** The object that a block is. @param {string} name @returns {Promise<any>} */
export async function json(name) {
  const bytes = await block(name);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

/** Powers of ten, as exact as their quotients have to be: `10 ** power` need not be. */
export const POWERS = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/** Reads figures one after the other. */
export class Reader {
  /** @param {Uint8Array | null} bytes */
  constructor(bytes) {
    this.bytes = bytes ?? new Uint8Array();
    this.reals = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    this.at = 0;
  }

  /** Whether all is read. */
  get isEnd() {
    return this.at >= this.bytes.length;
  }

  /** A whole number. */
  number() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let factor = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte >= 128);
    return value;
  }

  /** So many bytes. @param {number} count */
  raw(count) {
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  /** A whole number that may be less than 0. */
  signed() {
    const isBelow = this.bytes[this.at] & 1;
    const number = this.number();
    return isBelow ? -(number + 1) / 2 : number / 2;
  }

  /** A count; `NaN` if it is unknown. */
  count() {
    const number = this.number();
    return number === 0 ? NaN : number - 1;
  }

  /** A cost; `NaN` if it is unknown. */
  cost() {
    // The lowest bits are in the first byte: the rest of a division of large numbers takes long.
    const first = this.bytes[this.at];
    const number = this.number();
    switch (first & 3) {
      case 0:
        return number / 4;
      case 1:
        return (number - 1) / 4 / 1e4;
      case 2:
        this.at += 8;
        return this.reals.getFloat64(this.at - 8, true);
      default: {
        // Digits and the power of ten that they were multiplied by; without any, the cost is unknown.
        const power = (first >> 2) & 15;
        return power === 0 ? NaN : (number - 3 - power * 4) / 64 / POWERS[power];
      }
    }
  }
}
