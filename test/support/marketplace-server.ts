import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const SKILLSMP_KEY = 'sk_live_skillsmp_test';

export interface StandInSkill {
  /** `owner/repository`. */
  source: string;
  skillId: string;
  description: string;
  /** On SkillsMP stars, on skills.sh installs. */
  popularity: number;
}

export type StandInHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface MarketplaceServer {
  url: string;
  /** What both marketplaces list. */
  skills: StandInSkill[];
  /** What GitHub has, by `owner/repository/branch/path`. */
  files: Map<string, string | Uint8Array>;
  /** Answers in place of a path, to have it fail. */
  overrides: Map<string, StandInHandler>;
  /** Path and query of each request, and its authorization. */
  requests: { path: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** SkillsMP, skills.sh and GitHub's raw files on loopback, in the shapes that they document. Their base URLs are `url`, `url` and `url/raw`. */
export async function startMarketplaceServer(): Promise<MarketplaceServer> {
  const skills: StandInSkill[] = [];
  const files: MarketplaceServer['files'] = new Map();
  const overrides: MarketplaceServer['overrides'] = new Map();
  const requests: MarketplaceServer['requests'] = [];
  const matching = (q: string) =>
    skills.filter(({ skillId, description }) => `${skillId} ${description}`.toLowerCase().includes(q.toLowerCase()));

  function searchSkillsMp(query: URLSearchParams, authorization: string | undefined, response: ServerResponse) {
    if (authorization !== `Bearer ${SKILLSMP_KEY}`) {
      return sendJson(response, 401, { success: false, error: { code: 'INVALID_API_KEY', message: 'The provided API key is invalid' } });
    }
    const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 20)];
    const found = matching(query.get('q') ?? '');
    if (query.get('sortBy') === 'stars') found.sort((left, right) => right.popularity - left.popularity);
    const listed = found.slice((page - 1) * limit, page * limit).map(({ source, skillId, description, popularity }) => ({
      id: `${source.replace('/', '-')}-${skillId}`,
      name: skillId,
      author: source.split('/')[0],
      description,
      githubUrl: `https://github.com/${source}/tree/main/skills/${skillId}`,
      skillUrl: `https://skillsmp.com/skills/${skillId}`,
      stars: popularity,
      updatedAt: '1790000000',
      forks: 3,
    }));
    const pages = Math.ceil(found.length / limit);
    const pagination = { page, limit, total: found.length, totalPages: pages, hasNext: page < pages, hasPrev: page > 1 };
    sendJson(response, 200, { success: true, data: { skills: listed, pagination }, meta: { requestId: 'r' } });
  }

  function searchSkillsSh(query: URLSearchParams, response: ServerResponse) {
    const q = query.get('q') ?? '';
    if (q.length < 2) return sendJson(response, 400, { error: 'Query must be at least 2 characters' });
    const found = matching(q).slice(0, Number(query.get('limit') ?? 50));
    const listed = found.map(({ source, skillId, popularity }) => ({
      id: `${source}/${skillId}`,
      skillId,
      name: skillId,
      installs: popularity,
      source,
    }));
    sendJson(response, 200, { query: q, searchType: 'fuzzy', skills: listed, count: listed.length, duration_ms: 4 });
  }

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const url = new URL(path, 'http://stand-in');
    const { authorization } = request.headers;
    requests.push({ path, authorization });
    const override = overrides.get(url.pathname);
    if (override) return override(request, response);
    if (url.pathname === '/api/v1/skills/search') return searchSkillsMp(url.searchParams, authorization, response);
    if (url.pathname === '/api/search') return searchSkillsSh(url.searchParams, response);
    const file = files.get(url.pathname.replace(/^\/raw\//, ''));
    if (file === undefined) return void response.writeHead(404).end('404: Not Found');
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    skills,
    files,
    overrides,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
