/** What the user's text tells the model to do in one of its replies. */
export interface Step {
  text: string;
  calls: { name: string; arguments: string }[];
}

const CALL = /^call\s+(\S+)\s*(.*)$/i;
const SAY = /^say\s+(.+)$/i;
const THEN = /^then$/i;

/**
 * Reads the lines `call <tool> <arguments as JSON>` and `say <text>`. Those of one reply stand together, so that several calls are
 * parallel ones; a line `then` begins the next reply. Other lines mean nothing; without any directive there is no step.
 */
export function readDirectives(userText: string): Step[] {
  const steps: Step[] = [{ text: '', calls: [] }];
  for (const line of userText.split('\n').map((line) => line.trim())) {
    const step = steps.at(-1) as Step;
    const call = CALL.exec(line);
    const said = SAY.exec(line);
    if (THEN.test(line)) steps.push({ text: '', calls: [] });
    else if (call?.[1] !== undefined) step.calls.push({ name: call[1], arguments: call[2] === '' ? '{}' : (call[2] ?? '{}') });
    else if (said?.[1] !== undefined) step.text += said[1];
  }
  return steps.some((step) => step.text !== '' || step.calls.length > 0) ? steps : [];
}
