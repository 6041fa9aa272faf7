const HOST_NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/**
 * The domain that a text names, in lower case and Punycode and without `www.`, `*.` and dots at its ends: `example.com`, `.gov`,
 * `https://www.example.com/`. Undefined when it names anything else, such as a page of a site.
 */
export function parseDomain(text: string): string | undefined {
  const trimmed = text.trim();
  const url = URL.parse(/^https?:\/\//i.test(trimmed) ? trimmed : `https://${trimmed.replace(/^\./, '')}`);
  if (url === null || url.username !== '' || url.password !== '' || url.port !== '') return undefined;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined;
  const domain = url.hostname.replace(/^(\*\.|www\.)/, '').replace(/\.+$/, '');
  return HOST_NAME.test(domain) && domain.length <= 253 ? domain : undefined;
}

const isWithin = (hostname: string, domain: string): boolean => hostname === domain || hostname.endsWith(`.${domain}`);

/** Whether results of a host are wanted. What is excluded stays out, whatever includes it. */
export function allowsHost(
  hostname: string,
  { includeDomains, excludeDomains }: { includeDomains: readonly string[]; excludeDomains: readonly string[] },
): boolean {
  const host = hostname.replace(/\.+$/, '');
  if (excludeDomains.some((domain) => isWithin(host, domain))) return false;
  return includeDomains.length === 0 || includeDomains.some((domain) => isWithin(host, domain));
}
