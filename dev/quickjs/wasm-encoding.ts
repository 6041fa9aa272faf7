/** An unsigned number in LEB128. */
export function writeUnsigned(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  do {
    const low = left & 0x7f;
    left >>>= 7;
    bytes.push(left === 0 ? low : low | 0x80);
  } while (left !== 0);
  return bytes;
}

/** A signed 32-bit number in LEB128. */
export function writeSigned(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (;;) {
    const low = left & 0x7f;
    left >>= 7;
    if ((left === 0 && (low & 0x40) === 0) || (left === -1 && (low & 0x40) !== 0)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

export const writeName = (name: string): number[] => {
  const bytes = new TextEncoder().encode(name);
  return [...writeUnsigned(bytes.length), ...bytes];
};
