// Preloaded into a server under measurement: at SIGUSR2 it says how long the longest turn of its event loop has been since the
// last time, and the CPU time of the one that took most: `{"msg":"turns","longestMs":…,"mostCpuMs":…}`.
import process from 'node:process';
import { recordTurns } from '../soak/loop.ts';

const turns = recordTurns({ everyMs: 1, longMs: 2 });
process.on('SIGUSR2', () => {
  const [longestMs, mostCpuMs] = [
    Math.max(0, ...turns.map(({ tookMs }) => tookMs)),
    Math.max(0, ...turns.map(({ ranMs }) => ranMs)),
  ];
  turns.length = 0;
  process.stderr.write(`${JSON.stringify({ msg: 'turns', longestMs, mostCpuMs })}\n`);
});
