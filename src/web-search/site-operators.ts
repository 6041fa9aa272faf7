interface Domains {
  includeDomains: readonly string[];
  excludeDomains: readonly string[];
}

/** The query with the operators by which Google and its like are told about domains. */
export function withSiteOperators(query: string, { includeDomains, excludeDomains }: Domains): string {
  const included = includeDomains.map((domain) => `site:${domain}`).join(' OR ');
  const parts = [query, includeDomains.length > 1 ? `(${included})` : included, ...excludeDomains.map((domain) => `-site:${domain}`)];
  return parts.filter((part) => part !== '').join(' ');
}
