import { describe, expect, it } from 'vitest';
import { HostDirectory, KnownHost, orderHosts, orderPools } from '../../src/sandbox/host-directory.ts';

const pool = (name: string, urls: string[], colos: string[] = [], continents: string[] = []) => ({ name, urls, colos, continents });
const pools = [pool('first', ['http://f']), pool('europe', ['http://e'], [], ['EU']), pool('frankfurt', ['http://d'], ['FRA'], ['EU'])];

describe('orderPools', () => {
  it.each([
    [{}, ['first', 'europe', 'frankfurt']],
    [{ colo: 'FRA', continent: 'EU' }, ['frankfurt', 'first', 'europe']],
    [{ colo: 'CDG', continent: 'EU' }, ['europe', 'first', 'frankfurt']],
    [{ colo: 'NRT', continent: 'AS' }, ['first', 'europe', 'frankfurt']],
  ])('for %j', (location, names) => {
    expect(orderPools(pools, location).map(({ name }) => name)).toEqual(names);
  });

  it('is empty without pools', () => {
    expect(orderPools([], {})).toEqual([]);
  });
});

const hostWith = (url: string, load: string) => {
  const host = new KnownHost(url);
  host.reportLoad(load);
  return host;
};

describe('orderHosts', () => {
  it('prefers the less loaded of the two that chance picks', () => {
    const hosts = [hostWith('busy', '9/10'), hostWith('idle', '1/10'), hostWith('middle', '5/10')];
    const urls = (random: number) => orderHosts(hosts, () => random).map(({ url }) => url);
    expect(urls(0)).toEqual(['idle', 'busy', 'middle']);
    expect(urls(0.99)).toEqual(['idle', 'middle', 'busy']);
  });

  it('spreads over hosts that are equally loaded', () => {
    const hosts = ['a', 'b', 'c'].map((url) => new KnownHost(url));
    const firsts = [0, 0.4, 0.9].map((random) => orderHosts(hosts, () => random)[0]?.url);
    expect(firsts).toEqual(['a', 'b', 'c']);
  });
});

describe('KnownHost', () => {
  it('counts our own runs on top of what the host told', () => {
    const host = hostWith('a', '4/10');
    host.inFlight = 2;
    expect(host.load).toBe(0.6);
    host.reportLoad('5/10');
    expect(host.load).toBe(0.5);
    for (const nonsense of [null, '', '5', '5/0', 'x/y', '-1/2', '1/2/3']) host.reportLoad(nonsense);
    expect(host.load).toBe(0.5);
  });

  it('is left out longer with every failure, up to a minute, until it works again', () => {
    const host = new KnownHost('a');
    expect(host.isSuspect).toBe(false);
    const spans = Array.from({ length: 8 }, () => {
      host.reportFailure(0, 'unreachable');
      let ms = 0;
      while (host.isLeftOut(ms)) ms += 500;
      return ms;
    });
    expect(spans).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(host).toMatchObject({ isSuspect: true, failures: 8, leftOutUntil: 60_000 });
    host.reportFailure(7, 'draining');
    host.reportSuccess();
    expect(host.isLeftOut(0)).toBe(false);
    expect(host).toMatchObject({ failures: 0, lastFailure: { at: 7, reason: 'draining' } });
    expect(host.isSuspect).toBe(false);
  });
});

describe('HostDirectory', () => {
  it('tells the pools as configured, with one host for a URL that stands in two', () => {
    const two = [pool('a', ['http://1', 'http://2'], ['FRA'], ['EU']), pool('b', ['http://2'])];
    const directory = new HostDirectory({ pools: two, now: () => 0, random: () => 0 });
    const [a, b] = directory.pools;
    expect(directory.pools).toMatchObject([{ name: 'a', colos: ['FRA'], continents: ['EU'] }, { name: 'b' }]);
    expect(a?.hosts.map(({ url }) => url)).toEqual(['http://1', 'http://2']);
    expect(b?.hosts[0]).toBe(a?.hosts[1]);
  });

  it('names every host once, those that are left out last', () => {
    let now = 0;
    const directory = new HostDirectory({ pools: [...pools, pool('again', ['http://f', 'http://g'])], now: () => now, random: () => 0 });
    const urls = () => directory.candidates({ colo: 'FRA' }).map(({ url }) => url);
    expect(urls()).toEqual(['http://d', 'http://f', 'http://e', 'http://g']);
    directory.candidates({ colo: 'FRA' })[0]?.reportFailure(now, 'unreachable');
    expect(urls()).toEqual(['http://f', 'http://e', 'http://g', 'http://d']);
    now = 2_000;
    expect(urls()).toEqual(['http://d', 'http://f', 'http://e', 'http://g']);
  });
});
