import { HranaError, type WireValue } from './protocol.ts';

/** What the native package binds and returns: integers are bigint, numbers are SQLite's REAL. */
export type NativeValue = null | bigint | number | string | Buffer;

export function decodeValue(value: WireValue): NativeValue {
  switch (value.type) {
    case 'null':
      return null;
    case 'integer': {
      const integer = BigInt(value.value);
      if (BigInt.asIntN(64, integer) !== integer) throw new HranaError('ARGS_INVALID', `Not a 64-bit integer: ${value.value}`);
      return integer;
    }
    case 'float':
    case 'text':
      return value.value;
    case 'blob':
      return Buffer.from(value.base64, 'base64');
  }
}

export function encodeValue(value: NativeValue): WireValue {
  if (value === null) return { type: 'null' };
  if (typeof value === 'bigint') return { type: 'integer', value: String(value) };
  if (typeof value === 'number') return { type: 'float', value };
  if (typeof value === 'string') return { type: 'text', value };
  return { type: 'blob', base64: value.toString('base64').replace(/=+$/, '') };
}
