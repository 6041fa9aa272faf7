import { encodeBase64 } from '../base64.ts';
import { readBytes } from './read-bytes.ts';

const TEXT_TYPE =
  /^text\/|[/+](json|xml|yaml|toml|csv)$|^application\/((x-)?(javascript|ecmascript|ndjson|yaml|sh)|x-www-form-urlencoded|json5|jsonl|graphql|sql)$/;

export interface TextBody {
  body: string;
  bodyEncoding: 'utf8' | 'base64';
  /** Whether the body went on past the limit. */
  truncated: boolean;
}

/** How to decode a body of this content type, or undefined when it is not text. Without a type the bytes decide. */
function decoderFor(contentType: string | null): TextDecoder | undefined {
  const [type = '', ...parameters] = (contentType ?? 'text/plain').toLowerCase().split(';');
  if (!TEXT_TYPE.test(type.trim())) return undefined;
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)/.exec(parameter)?.[1]).find((name) => name !== undefined);
  try {
    return new TextDecoder(charset ?? 'utf-8', { fatal: true, ignoreBOM: false });
  } catch {
    return undefined;
  }
}

/** A response's body: text when its type says so and its bytes are valid in its charset (UTF-8 unless named), else base64. At most `maxBytes` are read. */
export async function readText(response: Response, options: { maxBytes: number; signal: AbortSignal }): Promise<TextBody> {
  const { bytes, truncated } = await readBytes(response, options);
  try {
    // With `stream` a character that the cut split at the end is left out instead of being a fault.
    const body = decoderFor(response.headers.get('content-type'))?.decode(bytes, { stream: truncated });
    if (body !== undefined) return { body, bodyEncoding: 'utf8', truncated };
  } catch {
    // Bytes that are not valid in the charset are not text.
  }
  return { body: encodeBase64(bytes), bodyEncoding: 'base64', truncated };
}
