import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import * as z from 'zod';

const ROOT = join(import.meta.dirname, '..', '..', 'deploy');

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
export const readYaml = (path: string): unknown => load(readText(path));
/** The names of the files of a folder of `deploy/` that are YAML. */
export const yamlFiles = (folder: string): string[] => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.yaml'));

export const manifest = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
export type Manifest = z.infer<typeof manifest>;

/** The objects of one file of `deploy/kubernetes`. */
export const readManifests = (name: string): Manifest[] =>
  (loadAll(readText(join('kubernetes', name))) as unknown[]).map((document) => manifest.parse(document));
