import type { RunFile } from '../src/contract/runs.ts';
import { packFiles, TAR_BLOCKING_BYTES } from './pack-files.ts';

/**
 * The container's first process: unpacks the files, starts the program as its child and reports how it ended. A program that is process 1 itself
 * would ignore SIGTERM and get other exit codes, and a tmpfs can be filled and read from inside alone.
 *
 * stdin: a line with a nonce, a line `<number of tar blocks> <1 when files are to come back> <number of lines with arguments>`, those lines (shell words
 * that stand for the container's own arguments when it has none), the tar blocks, then the program's own stdin.
 * stderr: nonce and `S<microseconds of CPU so far>` and a newline (started) or `F` (the files do not fit), the program's stderr, nonce, what `jobs` says of a
 * program that ended with more than 128, and `<exit code> <OOM kills> <microseconds of CPU> <most bytes of memory>` (-1 where the kernel does not tell) and a newline.
 * stdout: the program's stdout, nonce, and when files are to come back a tar of /workspace, nonce and `<exit code of tar>` and a newline; no tar and `E` when
 * /workspace is empty, which spares two processes.
 *
 * Before the end is told everything that the program left running is killed, so that nothing writes into the archive, and files that the program
 * made unreadable even for itself are opened up. The nonce comes over stdin
 * to keep it out of /proc/1/cmdline; a program that digs it out of memory can forge its own end and no more. POSIX sh, for busybox and dash alike.
 * Usage is read from the first version of cgroups or the second; `memory.events` tells a container's group of the second from that of a whole machine.
 */
export const SUPERVISOR = `omr_groups=/sys/fs/cgroup
omr_count_cpu() {
  omr_cpu=-1
  if [ -r $omr_groups/cpuacct/cpuacct.usage ]; then
    read -r omr_value <$omr_groups/cpuacct/cpuacct.usage && omr_cpu=$((omr_value / 1000))
  elif [ -r $omr_groups/memory.events ] && [ -r $omr_groups/cpu.stat ]; then
    while read -r omr_key omr_value; do
      [ "$omr_key" = usage_usec ] && omr_cpu=$omr_value
    done <$omr_groups/cpu.stat
  fi
}
IFS= read -r omr_nonce && read -r omr_blocks omr_files omr_lines || exit 125
if [ "$omr_lines" -gt 0 ]; then
  omr_words=
  while [ "$omr_lines" -gt 0 ]; do
    IFS= read -r omr_line || exit 125
    omr_words="$omr_words$omr_line
"
    omr_lines=$((omr_lines - 1))
  done
  eval "set -- $omr_words"
fi
if [ "$omr_blocks" -gt 0 ]; then
  dd bs=${TAR_BLOCKING_BYTES} count="$omr_blocks" iflag=fullblock 2>/dev/null | tar -xof - -C /workspace 2>/dev/null || {
    printf '%sF' "$omr_nonce" >&2
    exit 125
  }
fi
exec 3<&0 </dev/null
omr_count_cpu
omr_cpu_before=$omr_cpu
printf '%sS%d\\n' "$omr_nonce" $omr_cpu >&2
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
omr_count_cpu
[ $omr_cpu -ge 0 ] && omr_cpu=$((omr_cpu - omr_cpu_before))
omr_oom=0
for omr_events in $omr_groups/memory/memory.oom_control $omr_groups/memory.events; do
  [ -r $omr_events ] && while read -r omr_key omr_value; do
    [ "$omr_key" = oom_kill ] && omr_oom=$omr_value
  done <$omr_events
done
omr_memory=-1
for omr_peak in $omr_groups/memory/memory.max_usage_in_bytes $omr_groups/memory.peak; do
  [ -r $omr_peak ] && read -r omr_memory <$omr_peak
done
printf '%s' "$omr_nonce"
printf '%s' "$omr_nonce" >&2
[ $omr_status -gt 128 ] && jobs >&2
printf '%d %d %d %d\\n' $omr_status $omr_oom $omr_cpu $omr_memory >&2
if [ "$omr_files" = 1 ]; then
  omr_found=
  if [ -r /workspace ] && [ -x /workspace ]; then
    for omr_file in /workspace/* /workspace/.[!.]* /workspace/..?*; do
      if [ -e "$omr_file" ] || [ -L "$omr_file" ]; then omr_found=1 && break; fi
    done
  else
    omr_found=1
  fi
  if [ -n "$omr_found" ]; then
    chmod -R u+rwX /workspace 2>/dev/null
    tar -cf - -C /workspace . 2>/dev/null
    printf '%s%d\\n' "$omr_nonce" $?
  else
    printf '%sE\\n' "$omr_nonce"
  fi
fi
exit 0`;

const quoteWord = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Arguments as the shell words that the supervisor reads, in as many lines as it has to be told. */
export const argumentLines = (command: readonly string[]): string => command.map(quoteWord).join(' ');

/** What the supervisor reads besides the program's own stdin. */
export interface SupervisorOrders {
  files: readonly RunFile[];
  returnFiles: boolean;
  /** Shell words in place of the container's own arguments. */
  words?: string;
}

/** The bytes that the supervisor reads before it starts the program. */
export function supervisorOrders(nonce: string, { files, returnFiles, words = '' }: SupervisorOrders): Buffer {
  const archive = files.length === 0 ? Buffer.alloc(0) : packFiles(files);
  const lines = words === '' ? '' : `${words}\n`;
  const header = `${nonce}\n${archive.length / TAR_BLOCKING_BYTES} ${returnFiles ? 1 : 0} ${lines.split('\n').length - 1}\n`;
  return Buffer.concat([Buffer.from(header + lines), archive]);
}
