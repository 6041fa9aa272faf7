import { A2AError } from './a2a-error.ts';

export const VERSION_HEADER = 'a2a-version';

/** The revision that a request asks for; those before 1.0 named none. Throws an A2AError for one that is not spoken here. */
export function readVersion(header: string | undefined): '0.3' | '1.0' {
  const version = /^(0\.3|1\.0)(?:\.\d+)?$/.exec(header || '0.3')?.[1];
  if (version === '0.3' || version === '1.0') return version;
  throw new A2AError('VERSION_NOT_SUPPORTED', 'This agent speaks A2A 1.0 and 0.3');
}
