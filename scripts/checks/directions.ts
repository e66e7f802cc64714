import process from 'node:process';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { rules } from './direction-rules.ts';

/** Holds the imports of src/ against the flows of the house, and asserts that there was something to hold. */

const LEAST_MODULES = 50;

const { output } = await cruise(['src'], {
  ruleSet: { forbidden: rules },
  validate: true,
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
  parser: 'swc',
  enhancedResolveOptions: { extensions: ['.ts', '.js'] },
});
const { summary, modules } = output as ICruiseResult;

for (const { rule, from, to } of summary.violations) process.stderr.write(`${rule.name}: ${from} → ${to}\n`);
if (modules.length < LEAST_MODULES)
  process.stderr.write(`Expected to cruise at least ${LEAST_MODULES} modules, got ${modules.length}.\n`);
if (summary.violations.length > 0 || modules.length < LEAST_MODULES) process.exitCode = 1;
