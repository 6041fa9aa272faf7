import { gzipSync } from 'node:zlib';
import type { Environment } from './environment.ts';
import type { Row } from './report.ts';
import { median } from './statistics.ts';
import { startWorkerd, type WorkerSpec } from './workerd.ts';

const MAX_GZIP_BYTES = 1024 * 1024;
const MAX_START_UP_MS = 50;

export function measureSize({ bundle }: WorkerSpec): Row {
  const modules = [bundle.code, ...Object.values(bundle.wasm)];
  const size = modules.reduce((sum, module) => sum + gzipSync(module, { level: 9 }).length, 0);
  return {
    case: 'worker bundle, gzipped, not minified',
    value: `${(size / 1024).toFixed(0)} KiB`,
    target: '<= 1024 KiB',
    met: size <= MAX_GZIP_BYTES ? 'yes' : 'no',
  };
}

/** From the start of workerd to the first answer, which is one without a database. */
async function timeFirstAnswer(spec: WorkerSpec, folder: string): Promise<number> {
  const start = performance.now();
  const workerd = await startWorkerd([spec], folder);
  try {
    const response = await fetch(`${workerd.urls[spec.name]}/nothing-is-here`);
    await response.arrayBuffer();
    return performance.now() - start;
  } finally {
    await workerd.stop();
  }
}

/** The product's start-up is what it takes longer than the bare proxy until it answers. */
export async function measureStartUp({ workers, folder }: Environment, rounds: number): Promise<Row> {
  const samples = { proxy: [] as number[], product: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    samples.proxy.push(await timeFirstAnswer(workers.proxy, folder));
    samples.product.push(await timeFirstAnswer(workers.product, folder));
  }
  const proxy = median(samples.proxy);
  const product = median(samples.product);
  const added = product - proxy;
  return {
    case: 'start of workerd to first answer',
    ...{ proxy, product, added, ratio: product / proxy },
    target: `added <= ${MAX_START_UP_MS}`,
    met: added <= MAX_START_UP_MS ? 'yes' : 'no',
  };
}
