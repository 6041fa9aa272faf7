import { spawn } from 'node:child_process';

/**
 * Runs a program and resolves to its standard output. Rejects with the end of what it printed when it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { show?: boolean }} options `show` lets its output through instead
 * @returns {Promise<string>}
 */
export function runCommand(command, args, { show = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'], ...options });
    let stdout = '';
    let all = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
      all += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      all += chunk;
    });
    child.on('error', (error) => reject(new Error(`${command}: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const end = all.trim().split('\n').slice(-5).join('\n');
      reject(new Error(`${command} ${args[0] ?? ''} failed (${signal ?? code})${end === '' ? '' : `: ${end}`}`));
    });
  });
}
