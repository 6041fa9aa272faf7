export interface RequestLocation {
  colo?: string | undefined;
  continent?: string | undefined;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Where a request came in, as Cloudflare tells in `request.cf`; nothing elsewhere. Read by hand, as every request asks for it. */
export function locationOf(request: Request): RequestLocation {
  const { cf } = request as { cf?: Record<string, unknown> };
  return { colo: textOf(cf?.colo), continent: textOf(cf?.continent) };
}
