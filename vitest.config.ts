import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { COMPATIBILITY_DATE } from './dev/bundle-worker.ts';

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [cloudflareTest({ miniflare: { compatibilityDate: COMPATIBILITY_DATE } })],
        test: { name: 'workerd', include: ['test/workerd/**/*.test.ts'], testTimeout: 30_000 },
      },
      {
        test: {
          name: 'unit',
          testTimeout: 30_000,
          hookTimeout: 60_000,
          include: ['test/**/*.test.ts'],
          exclude: ['test/{docker,e2e,worker,workerd}/**'],
        },
      },
      {
        test: {
          name: 'stack',
          include: ['test/{docker,e2e,worker}/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
