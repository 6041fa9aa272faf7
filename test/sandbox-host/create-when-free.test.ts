import { describe, expect, it } from 'vitest';
import { createWhenFree } from '../../sandbox-host/create-when-free.ts';
import { DockerError } from '../../sandbox-host/docker-engine.ts';

const engineThatFails = (times: number, status: number) => {
  const names: string[] = [];
  const createContainer = async (name: string) => {
    names.push(name);
    if (names.length <= times) throw new DockerError(status, 'refused');
    return 'container';
  };
  return { names, createContainer };
};

describe('createWhenFree', () => {
  it('waits until the name is free', async () => {
    const engine = engineThatFails(2, 409);
    expect(await createWhenFree(engine, 'omniroute-1', {})).toBe('container');
    expect(engine.names).toEqual(['omniroute-1', 'omniroute-1', 'omniroute-1']);
  });

  it('gives up when it stays in use', async () => {
    await expect(createWhenFree(engineThatFails(Number.POSITIVE_INFINITY, 409), 'omniroute-1', {})).rejects.toMatchObject({ status: 409 });
  });

  it('takes any other refusal as it is', async () => {
    const engine = engineThatFails(1, 404);
    await expect(createWhenFree(engine, 'omniroute-1', {})).rejects.toMatchObject({ status: 404 });
    expect(engine.names).toHaveLength(1);
  });
});
