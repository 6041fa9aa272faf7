import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { HOST_VARIABLES, readHostConfig } from '../../sandbox-host/config.ts';
import { RunMetrics } from '../../sandbox-host/metrics.ts';
import { allowedImages } from '../../src/contract/images.ts';
import { runLimits } from '../../src/contract/runs.ts';
import { type Manifest, readManifests, readText, readYaml, yamlFiles } from './read-manifests.ts';
import { watchFields } from './unread-fields.ts';

const NOT_OBJECTS = ['kustomization.yaml', 'prometheus-adapter-values.yaml'];
const files = yamlFiles('kubernetes').filter((name) => !NOT_OBJECTS.includes(name));
/** The longest that a program may run, and the most that its container's start and its files may take on top. */
const LONGEST_RUN_SECONDS = 60 + 10;

/** Checks an object by the schema of its kind; resolves with the fields that the schema does not have. */
async function validate(object: Manifest): Promise<string[]> {
  const module = await import(`kubernetes-models/${object.apiVersion}/${object.kind}`);
  const Model = module[object.kind] as { new (data: object): object; prototype: { validate(): void } };
  const { watched, unread } = watchFields(new Model(object));
  Model.prototype.validate.call(watched);
  return unread();
}

const find = (kind: string): Manifest => {
  const found = files.flatMap(readManifests).find((object) => object.kind === kind && object.metadata.name === 'sandbox-host');
  if (found === undefined) throw new Error(`No ${kind}`);
  return found;
};

const probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const environment = z.array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }));
const container = z.looseObject({ name: z.string(), image: z.string(), env: environment.default([]) });
const podSpec = z.looseObject({
  terminationGracePeriodSeconds: z.number(),
  automountServiceAccountToken: z.boolean(),
  initContainers: z.array(container),
  containers: z.tuple([
    container.extend({ readinessProbe: probe, livenessProbe: probe, startupProbe: probe, securityContext: z.unknown() }),
  ]),
});
const statefulSet = z.looseObject({
  spec: z.looseObject({
    serviceName: z.string(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }), spec: podSpec }),
  }),
});
const { spec } = statefulSet.parse(find('StatefulSet'));
const pod = spec.template.spec;
const [host] = pod.containers;

describe.each(files)('deploy/kubernetes/%s', (name) => {
  it.each(readManifests(name).map((object) => [object.kind, object] as const))('%s is as the API has it', async (_, object) => {
    expect(await validate(object)).toEqual([]);
  });
});

it.each([
  ['/spec/replicas must be integer', { replicas: 'two' }, []],
  ['a field that there is not', { replicass: 2 }, ['.spec.replicass']],
])('the check finds %s', async (message, change, unread) => {
  const broken = { ...find('StatefulSet'), spec: { ...spec, ...change } } as Manifest;
  if (unread.length === 0) await expect(validate(broken)).rejects.toThrow(message);
  else expect(await validate(broken)).toEqual(unread);
});

it('kustomize takes every file but what is for outside of the cluster', () => {
  const { resources } = z.object({ resources: z.array(z.string()) }).parse(readYaml('kubernetes/kustomization.yaml'));
  expect(resources.toSorted()).toEqual(files.filter((name) => name !== 'outside.yaml').toSorted());
});

describe('the pods', () => {
  const values = Object.fromEntries(host.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const config = readHostConfig({ ...values, SANDBOX_SECRET: 's'.repeat(32) });

  it('set variables that a sandbox-host reads, to values that it takes', () => {
    expect(host.env.map(({ name }) => name).filter((name) => !HOST_VARIABLES.includes(name))).toEqual([]);
    expect(config.socketPath).toBe('/run/docker/docker.sock');
    const secret = host.env.find(({ name }) => name === 'SANDBOX_SECRET');
    expect(secret).toEqual({ name: 'SANDBOX_SECRET', valueFrom: { secretKeyRef: { name: 'sandbox-host', key: 'SANDBOX_SECRET' } } });
  });

  it('let the longest run come to its end', () => {
    expect(runLimits.safeParse({ timeoutMs: 60_001 }).success).toBe(false);
    expect(config.drainMs / 1_000).toBeGreaterThanOrEqual(LONGEST_RUN_SECONDS);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(config.drainMs / 1_000 + 5);
  });

  it('keep the engine until the host has ended', () => {
    expect(pod.initContainers.map(({ name, restartPolicy }) => [name, restartPolicy])).toEqual([
      ['engine', 'Always'],
      ['images', undefined],
    ]);
  });

  it('pull every image that programs may have by default', () => {
    const command = JSON.stringify(pod.initContainers.find(({ name }) => name === 'images'));
    for (const image of allowedImages('')) expect(command).toContain(image);
  });

  it('are asked whether they are ready, and live on while they drain', () => {
    expect(host.readinessProbe.httpGet.path).toBe('/readyz');
    expect(host.livenessProbe.httpGet.path).toBe('/healthz');
    expect(host.startupProbe.httpGet.path).toBe('/healthz');
  });

  it('have no more rights than they need, and no word in the cluster', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(host.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('are the ones that the other objects mean', () => {
    const { labels } = spec.template.metadata;
    expect(spec.selector.matchLabels).toEqual(labels);
    expect(find('Service')).toMatchObject({ metadata: { name: spec.serviceName }, spec: { clusterIP: 'None', selector: labels } });
    expect(find('PodDisruptionBudget')).toMatchObject({ spec: { maxUnavailable: 1, selector: { matchLabels: labels } } });
    expect(find('NetworkPolicy')).toMatchObject({ spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress', 'Egress'] } });
  });
});

describe('autoscaling', () => {
  const scaling = z
    .looseObject({
      spec: z.looseObject({
        scaleTargetRef: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
        metrics: z.array(z.object({ type: z.literal('Pods'), pods: z.looseObject({ metric: z.object({ name: z.string() }) }) })),
      }),
    })
    .parse(find('HorizontalPodAutoscaler'));
  const names = scaling.spec.metrics.map(({ pods }) => pods.metric.name);

  it('goes by the queue, as hosts tell it, and changes the number of pods', () => {
    const warm = { ready: 0, making: 0, target: 0 };
    const told = new RunMetrics().render({ active: 1, waiting: 2, capacity: 3, containers: 1, warm });
    for (const name of names) expect(told).toContain(`\n${name} `);
    expect(names).toContain('omniroute_sandbox_runs_waiting');
    expect(scaling.spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'sandbox-host' });
  });

  it('has its metrics from the adapter', () => {
    const rule = z.object({ seriesQuery: z.string(), metricsQuery: z.string() });
    const values = z
      .object({ rules: z.object({ custom: z.tuple([rule.loose()]) }) })
      .parse(load(readText('kubernetes/prometheus-adapter-values.yaml')));
    const [, pattern = ''] = /__name__=~"([^"]+)"/.exec(values.rules.custom[0].seriesQuery) ?? [];
    for (const name of names) expect(name).toMatch(new RegExp(`^${pattern}$`));
  });
});
