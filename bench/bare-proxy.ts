import { Hono } from 'hono';

/** The least that a gateway on Hono has to do: forward the body, pipe the reply. What the product costs is told by how much it takes longer. */
const app = new Hono<{ Bindings: { UPSTREAM_URL: string } }>();

const HOST_AT = 'http://'.length;

app.post('/*', async (c) => {
  const { url, headers, body } = c.req.raw;
  const upstream = await fetch(`${c.env.UPSTREAM_URL}${url.slice(url.indexOf('/', HOST_AT))}`, { method: 'POST', headers, body });
  return new Response(upstream.body, upstream);
});

export default app;
