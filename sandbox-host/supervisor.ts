import type { RunFile } from '../src/contract/runs.ts';
import { packFiles, TAR_BLOCKING_BYTES } from './pack-files.ts';

/**
 * The container's first process: unpacks the files, starts the program as its child and reports how it ended. A program that is process 1 itself
 * would ignore SIGTERM and get other exit codes, and a tmpfs can be filled and read from inside alone.
 *
 * stdin: a line with a nonce, a line `<number of tar blocks> <1 when files are to come back>`, the tar blocks, then the program's own stdin.
 * stderr: nonce and `S` (started) or `F` (the files do not fit), the program's stderr, nonce and `<exit code> <OOM kills>` and a newline.
 * stdout: the program's stdout, nonce, and when asked for a tar of /workspace, nonce and `<exit code of tar>` and a newline.
 *
 * Before the end is told everything that the program left running is killed, so that nothing writes into the archive, and files that the program
 * made unreadable even for itself are opened up. The nonce comes over stdin
 * to keep it out of /proc/1/cmdline; a program that digs it out of memory can forge its own end and no more. POSIX sh, for busybox and dash alike.
 */
export const SUPERVISOR = `IFS= read -r omr_nonce && read -r omr_blocks omr_files || exit 125
if [ "$omr_blocks" -gt 0 ]; then
  dd bs=${TAR_BLOCKING_BYTES} count="$omr_blocks" iflag=fullblock 2>/dev/null | tar -xof - -C /workspace 2>/dev/null || {
    printf '%sF' "$omr_nonce" >&2
    exit 125
  }
fi
exec 3<&0 </dev/null
printf '%sS' "$omr_nonce" >&2
(exec "$@") <&3 3<&- &
omr_program=$!
exec 3<&-
trap 'kill -TERM $omr_program 2>/dev/null' TERM
while :; do
  wait $omr_program
  omr_status=$?
  kill -0 $omr_program || break
done 2>/dev/null
kill -9 -1 2>/dev/null
omr_round=0
while kill -0 -1 2>/dev/null && [ $omr_round -lt 50 ]; do
  omr_round=$((omr_round + 1))
  sleep 0.01
done
omr_oom=0
for omr_events in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
  [ -r $omr_events ] && while read -r omr_key omr_value; do
    [ "$omr_key" = oom_kill ] && omr_oom=$omr_value
  done <$omr_events
done
printf '%s' "$omr_nonce"
printf '%s%d %d\\n' "$omr_nonce" $omr_status $omr_oom >&2
if [ "$omr_files" = 1 ]; then
  chmod -R u+rwX /workspace 2>/dev/null
  tar -cf - -C /workspace . 2>/dev/null
  printf '%s%d\\n' "$omr_nonce" $?
fi
exit 0`;

/** The bytes that the supervisor reads. */
export function supervisorInput(nonce: string, run: { files: readonly RunFile[]; stdin: string; returnFiles: boolean }): Buffer {
  const archive = run.files.length === 0 ? Buffer.alloc(0) : packFiles(run.files);
  const header = `${nonce}\n${archive.length / TAR_BLOCKING_BYTES} ${run.returnFiles ? 1 : 0}\n`;
  return Buffer.concat([Buffer.from(header), archive, Buffer.from(run.stdin)]);
}
