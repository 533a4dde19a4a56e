//! Inputs that are not quite sound.

use super::random::Random;

/// Pieces that formats give a meaning to, and numbers at the edges of types.
const PIECES: &[&[u8]] = &[
    b"0",
    b"-1",
    "¯1".as_bytes(),
    b"1E308",
    b"9007199254740993",
    b"18446744073709551616",
    b"4294967295",
    b"\"",
    b"|",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff\xff\xff\xff",
    b"<a>",
    b"</ProfileEntry>",
    b"&amp;",
    b"]]>",
    b"@end\n",
    b"{\"children\": [",
    b"]}",
    b"\\",
    b" 1 ",
];

/// The seed with some of its bytes changed, left out, repeated or taken from elsewhere.
pub(crate) fn mutate(seeds: &[Vec<u8>], seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes
                .splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())
                .for_each(drop),
            3 => bytes
                .splice(at..end, PIECES[random.below(PIECES.len())].iter().copied())
                .for_each(drop),
            4 => {
                let copied = bytes[at..end].to_vec();
                let times = random.below(20);
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copied.repeat(times)).for_each(drop);
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                let until = (from + random.below(200)).min(other.len());
                bytes
                    .splice(at..end, other[from..until].iter().copied())
                    .for_each(drop);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next().to_le_bytes()[0];
                }
            }
        }
    }
    bytes
}
