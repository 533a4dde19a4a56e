// Figures by the rules of `src/text/scale.rs` and `src/text/number.rs`: a test holds the two equal.

/** @typedef {{title: string, unit: string, size: number, decimals: number}} Scale */

/** Names of units, the smallest first, with how many base units each is. */
const UNITS = {
  ns: [['ns', 1], ['us', 1e3], ['msec', 1e6], ['s', 1e9]],
  bytes: [['bytes', 1], ['KiB', 1024], ['MiB', 1024 ** 2], ['GiB', 1024 ** 3]],
  count: [['', 1]],
};

/** A number with so many decimals. A tie goes to the even digit, and what rounds to nothing is not less than nothing.
 * @param {number} value @param {number} decimals */
export function fixed(value, decimals) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
  const size = Math.abs(value);
  let text;
  if (size >= 1e21) {
    text = BigInt(size) + (decimals > 0 ? '.' + '0'.repeat(decimals) : '');
  } else {
    text = size.toFixed(decimals);
    // `toFixed` takes the larger one of two that are as near.
    const halves = size * 2 ** (decimals + 1);
    const digits = text.replace('.', '');
    if (Number.isInteger(halves) && (BigInt(halves) * 5n ** BigInt(decimals)) % 2n === 1n && Number(digits.at(-1)) % 2 === 1) {
      const lower = (BigInt(digits) - 1n).toString().padStart(decimals + 1, '0');
      text = decimals > 0 ? `${lower.slice(0, -decimals)}.${lower.slice(-decimals)}` : lower;
    }
  }
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}

/** Whether a positive figure with so many decimals is more than 0. @param {number} figure @param {number} decimals */
function isSeen(figure, decimals) {
  return figure * 10 ** decimals >= 0.5;
}

/** The unit that fits a figure, with as many decimals as show a thousandth of it; the usual one fits 0.
 * @param {string} metric @param {string} base @param {number} figure @returns {Scale} */
export function fitting(metric, base, figure) {
  /** @type {any[]} */
  const units = /** @type {any} */ (UNITS)[base] ?? UNITS.count;
  let [unit, size] = units[base === 'ns' ? 2 : 0];
  if (figure !== 0 && Number.isFinite(figure)) {
    [unit, size] = units.at(-1);
    for (let at = 0; at + 1 < units.length; at++) {
      if (Math.abs(figure) < units[at + 1][1] - 0.05 * units[at][1]) {
        [unit, size] = units[at];
        break;
      }
    }
  }
  const thousandth = Math.abs(figure) / size / 1000;
  let decimals = 1;
  if ((size !== 1 || Math.abs(figure) < 1) && thousandth > 0 && Number.isFinite(thousandth)) {
    while (decimals < 15 && !isSeen(thousandth, decimals)) decimals++;
  }
  return { title: unit === '' ? metric : unit, unit, size, decimals };
}

/** The scale of a column: that of the run's total, or of what is selected where the former would not show a hundredth of it.
 * @param {string} metric @param {string} base @param {number} total @param {number} selected */
export function ofColumn(metric, base, total, selected) {
  const scale = fitting(metric, base, total);
  const isShown = (scale.size === 1 && Math.abs(selected) >= 1) || isSeen(Math.abs(selected) / scale.size / 100, scale.decimals);
  return selected === 0 || isShown ? scale : fitting(metric, base, selected);
}

/** Decimals of a figure in a scale: of a base unit, as many as show two digits of one that would be 0.0 though it is more.
 * @param {Scale} scale @param {number} value */
function decimalsOf(scale, value) {
  const size = Math.abs(value);
  let decimals = scale.decimals;
  if (scale.size !== 1 || size === 0 || isSeen(size, decimals)) return decimals;
  while (decimals < 22 && !isSeen(size / 10, decimals)) decimals++;
  return decimals;
}

/** A cost in a scale, without its unit. @param {Scale} scale @param {number | null | undefined} value */
export function rounded(scale, value) {
  if (value === null || value === undefined) return '-';
  const isWhole = Math.abs(value - Math.round(value)) <= 4 * Number.EPSILON * Math.abs(value);
  return fixed(value / scale.size, scale.size === 1 && isWhole ? 0 : decimalsOf(scale, value));
}

/** A cost by itself, in the unit that fits it. @param {string} metric @param {string} base @param {number} value */
export function figure(metric, base, value) {
  const scale = fitting(metric, base, value);
  return `${rounded(scale, value)} ${scale.unit}`.trimEnd();
}

/** A share. @param {number | null} value */
export function percent(value) {
  return value === null || Number.isNaN(value) ? '-' : fixed(value, 1);
}

/** A number is written without exponent where it has fewer digits before its point, or zeros after it. */
const FAR = 21;

/** Digits `d.ddd` times ten to a power, without exponent unless it is far from the digits. Zeros at the end are left out.
 * @param {boolean} isNegative @param {string} digits @param {number} exponent */
function positional(isNegative, digits, exponent) {
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const sign = isNegative ? '-' : '';
  if (exponent < -FAR || exponent >= FAR) return `${sign}${kept[0]}${kept.length > 1 ? '.' : ''}${kept.slice(1)}E${exponent}`;
  const before = exponent + 1;
  if (before >= kept.length) return sign + kept.padEnd(before, '0');
  if (before > 0) return `${sign}${kept.slice(0, before)}.${kept.slice(before)}`;
  return `${sign}0.${'0'.repeat(-before)}${kept}`;
}

/** Digits and exponent of a number: all that tell it from others, or so many. @param {number} value @param {number} [most] @returns {[string, number]} */
function digitsOf(value, most) {
  const size = Math.abs(value);
  const parts = (/** @type {string} */ text) => /** @type {[string, string]} */ (text.split('e'));
  const [all, exponent] = parts(size.toExponential());
  const digits = all.replace('.', '');
  if (most === undefined || digits.length <= most) return [digits, Number(exponent)];
  const [few, of] = parts(size.toExponential(most - 1));
  const rounded = few.replace('.', '');
  // `toExponential` takes the larger one of two that are as near, and here it is the even one.
  const decimals = digits.length - 1 - Number(exponent);
  const isTie = () => (decimals > 0 ? Number.isInteger(size * 2 ** decimals) : BigInt(size) === BigInt(digits) * 10n ** BigInt(-decimals));
  if (digits.length === most + 1 && digits.endsWith('5') && isTie() && Number(rounded.at(-1)) % 2 === 1) return [(BigInt(rounded) - 1n).toString().padStart(most, '0'), Number(of)];
  return [rounded, Number(of)];
}

/** @param {number} value @param {number} power @param {number} [most] */
function written(value, power, most) {
  if (!Number.isFinite(value)) return fixed(value, 0);
  const [digits, exponent] = digitsOf(value, most);
  return positional(value < 0, digits, exponent + power);
}

/** All digits of a number times a power of ten. @param {number} value @param {number} [power] */
export function shortest(value, power = 0) {
  return written(value, power);
}

/** Ten digits of a number times a power of ten. @param {number} value @param {number} [power] */
export function significant(value, power = 0) {
  return written(value, power, 10);
}

/** As many digits as make every number one of its own. @param {number} value */
export function readable(value) {
  return written(value, 0, 15);
}
