
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'assize' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'assize'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'assize' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('eval', 'eval', [CompletionResultType]::ParameterValue, 'Run eval files: get answers, judge them, score them')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run eval files: get answers, judge them, score them')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Say what `eval` with the same arguments would take: cases, calls, estimated tokens. Nothing is sent')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Grade answers that are already there against a rubric')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check eval files and scorecards; every problem with its place and its fix')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Find what is sound and still a bad rubric; each finding with its reason')
            [CompletionResult]::new('score', 'score', [CompletionResultType]::ParameterValue, 'Score a stored run again, after a rubric''s weights or the lines changed, without asking a judge')
            [CompletionResult]::new('scorecard', 'scorecard', [CompletionResultType]::ParameterValue, 'Trees of rubrics over benchmarks: show what is in them, add up their results')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Turn what other programs recorded into cases')
            [CompletionResult]::new('cache', 'cache', [CompletionResultType]::ParameterValue, 'Look at the reply cache, or make it smaller')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print the arithmetic behind a case''s score')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say which judges are usable here, and what the others lack')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a man page, or write all of them')
            break
        }
        'assize;eval' {
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target to run against, instead of the one the file names; may be given several times')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'File that defines the targets')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--test-id', '--test-id', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Run only cases that carry this tag (or whose suite does); may be given several times')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that eval files may read from, beside their own repository; may be given several times')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Refuse to run what is usually only warned about')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`')
            [CompletionResult]::new('--judging', '--judging', [CompletionResultType]::ParameterName, 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--judge-calls', '--judge-calls', [CompletionResultType]::ParameterName, 'Judge calls in flight at once, over all cases')
            [CompletionResult]::new('--budget-calls', '--budget-calls', [CompletionResultType]::ParameterName, 'Requests to models at most, targets and judges together; then the run stops and can be resumed')
            [CompletionResult]::new('--budget-tokens', '--budget-tokens', [CompletionResultType]::ParameterName, 'Tokens at most, read and written, targets and judges together')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'US dollars at most, targets and judges together, by the prices of `.assize/prices.yaml` and the built-in table')
            [CompletionResult]::new('--budget-unknown-price', '--budget-unknown-price', [CompletionResultType]::ParameterName, 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count')
            [CompletionResult]::new('--context-tokens', '--context-tokens', [CompletionResultType]::ParameterName, 'Tokens that models can read and write in one call, whatever the table of models says')
            [CompletionResult]::new('--truncate', '--truncate', [CompletionResultType]::ParameterName, 'What is done when a judge can''t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Pass line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Borderline line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--keep-going', '--keep-going', [CompletionResultType]::ParameterName, 'Run the sound cases of a file that has problems; the exit code is then at least 3')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what the run would take, and send nothing')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Ask every model anew, and keep no reply')
            [CompletionResult]::new('--cache-only', '--cache-only', [CompletionResultType]::ParameterName, 'Send nothing to models: what the reply cache does not hold is ungraded, or has no answer')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object on stdout instead of tables')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;run' {
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target to run against, instead of the one the file names; may be given several times')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'File that defines the targets')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--test-id', '--test-id', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Run only cases that carry this tag (or whose suite does); may be given several times')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that eval files may read from, beside their own repository; may be given several times')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Refuse to run what is usually only warned about')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`')
            [CompletionResult]::new('--judging', '--judging', [CompletionResultType]::ParameterName, 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--judge-calls', '--judge-calls', [CompletionResultType]::ParameterName, 'Judge calls in flight at once, over all cases')
            [CompletionResult]::new('--budget-calls', '--budget-calls', [CompletionResultType]::ParameterName, 'Requests to models at most, targets and judges together; then the run stops and can be resumed')
            [CompletionResult]::new('--budget-tokens', '--budget-tokens', [CompletionResultType]::ParameterName, 'Tokens at most, read and written, targets and judges together')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'US dollars at most, targets and judges together, by the prices of `.assize/prices.yaml` and the built-in table')
            [CompletionResult]::new('--budget-unknown-price', '--budget-unknown-price', [CompletionResultType]::ParameterName, 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count')
            [CompletionResult]::new('--context-tokens', '--context-tokens', [CompletionResultType]::ParameterName, 'Tokens that models can read and write in one call, whatever the table of models says')
            [CompletionResult]::new('--truncate', '--truncate', [CompletionResultType]::ParameterName, 'What is done when a judge can''t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Pass line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Borderline line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--keep-going', '--keep-going', [CompletionResultType]::ParameterName, 'Run the sound cases of a file that has problems; the exit code is then at least 3')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what the run would take, and send nothing')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Ask every model anew, and keep no reply')
            [CompletionResult]::new('--cache-only', '--cache-only', [CompletionResultType]::ParameterName, 'Send nothing to models: what the reply cache does not hold is ungraded, or has no answer')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object on stdout instead of tables')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;plan' {
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target to run against, instead of the one the file names; may be given several times')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'File that defines the targets')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--test-id', '--test-id', [CompletionResultType]::ParameterName, 'Run only cases whose id matches this pattern; may be given several times')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Run only cases that carry this tag (or whose suite does); may be given several times')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that eval files may read from, beside their own repository; may be given several times')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Refuse to run what is usually only warned about')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`')
            [CompletionResult]::new('--judging', '--judging', [CompletionResultType]::ParameterName, 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--judge-calls', '--judge-calls', [CompletionResultType]::ParameterName, 'Judge calls in flight at once, over all cases')
            [CompletionResult]::new('--budget-calls', '--budget-calls', [CompletionResultType]::ParameterName, 'Requests to models at most, targets and judges together; then the run stops and can be resumed')
            [CompletionResult]::new('--budget-tokens', '--budget-tokens', [CompletionResultType]::ParameterName, 'Tokens at most, read and written, targets and judges together')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'US dollars at most, targets and judges together, by the prices of `.assize/prices.yaml` and the built-in table')
            [CompletionResult]::new('--budget-unknown-price', '--budget-unknown-price', [CompletionResultType]::ParameterName, 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count')
            [CompletionResult]::new('--context-tokens', '--context-tokens', [CompletionResultType]::ParameterName, 'Tokens that models can read and write in one call, whatever the table of models says')
            [CompletionResult]::new('--truncate', '--truncate', [CompletionResultType]::ParameterName, 'What is done when a judge can''t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Pass line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Borderline line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--keep-going', '--keep-going', [CompletionResultType]::ParameterName, 'Run the sound cases of a file that has problems; the exit code is then at least 3')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what the run would take, and send nothing')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Ask every model anew, and keep no reply')
            [CompletionResult]::new('--cache-only', '--cache-only', [CompletionResultType]::ParameterName, 'Send nothing to models: what the reply cache does not hold is ungraded, or has no answer')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object on stdout instead of tables')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;grade' {
            [CompletionResult]::new('--answers', '--answers', [CompletionResultType]::ParameterName, 'The answers, one JSON object a line')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`')
            [CompletionResult]::new('--judging', '--judging', [CompletionResultType]::ParameterName, 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases worked on at once')
            [CompletionResult]::new('--judge-calls', '--judge-calls', [CompletionResultType]::ParameterName, 'Judge calls in flight at once, over all cases')
            [CompletionResult]::new('--budget-calls', '--budget-calls', [CompletionResultType]::ParameterName, 'Requests to models at most, targets and judges together; then the run stops and can be resumed')
            [CompletionResult]::new('--budget-tokens', '--budget-tokens', [CompletionResultType]::ParameterName, 'Tokens at most, read and written, targets and judges together')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'US dollars at most, targets and judges together, by the prices of `.assize/prices.yaml` and the built-in table')
            [CompletionResult]::new('--budget-unknown-price', '--budget-unknown-price', [CompletionResultType]::ParameterName, 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count')
            [CompletionResult]::new('--context-tokens', '--context-tokens', [CompletionResultType]::ParameterName, 'Tokens that models can read and write in one call, whatever the table of models says')
            [CompletionResult]::new('--truncate', '--truncate', [CompletionResultType]::ParameterName, 'What is done when a judge can''t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Pass line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Borderline line, 0 to 1; beats what cases and suites say')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the run; `.assize/runs/<id>` unless given')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Ask every model anew, and keep no reply')
            [CompletionResult]::new('--cache-only', '--cache-only', [CompletionResultType]::ParameterName, 'Send nothing to models: what the reply cache does not hold is ungraded, or has no answer')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object on stdout instead of tables')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress and no notices on stderr; problems are still told')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;validate' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How problems are printed')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that eval files may read from, beside their own repository; may be given several times')
            [CompletionResult]::new('--max-warnings', '--max-warnings', [CompletionResultType]::ParameterName, 'Exit with 2 when there are more warnings than this')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as `--format json`')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;lint' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How findings are printed')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that eval files may read from, beside their own repository; may be given several times')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Same as `--format json`')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Exit with 1 when anything is found')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Make the changes that are sure to keep the meaning; everything else in the files stays as it is')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the rules')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;score' {
            [CompletionResult]::new('--rubric', '--rubric', [CompletionResultType]::ParameterName, 'Rubric whose weights, gates and criteria replace those of the run')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Pass line, 0 to 1')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Borderline line, 0 to 1')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Folder to store the scored run in; nothing is stored unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder to store the scored run in; nothing is stored unless given')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Cases to print in full')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object on stdout instead of tables')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;scorecard' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Print the tree with weights, thresholds, evaluators and how many cases each part has')
            [CompletionResult]::new('score', 'score', [CompletionResultType]::ParameterValue, 'Add up results and labels that are already there: scores, gates, what blocks what')
            break
        }
        'assize;scorecard;list' {
            [CompletionResult]::new('--weights', '--weights', [CompletionResultType]::ParameterName, 'The weight set of the index to show, instead of the one it names')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that the scorecard may read from, beside its own repository; may be given several times')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;scorecard;score' {
            [CompletionResult]::new('--weights', '--weights', [CompletionResultType]::ParameterName, 'The weight set of the index to show, instead of the one it names')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder that the scorecard may read from, beside its own repository; may be given several times')
            [CompletionResult]::new('--results', '--results', [CompletionResultType]::ParameterName, 'Results, one JSON object a line')
            [CompletionResult]::new('--treat-missing', '--treat-missing', [CompletionResultType]::ParameterName, 'How a case without a result counts')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;import' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('transcript', 'transcript', [CompletionResultType]::ParameterValue, 'Turn the session logs of agents into cases with their answers')
            break
        }
        'assize;import;transcript' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Who wrote them: claude-code, codex, copilot, gemini, opencode, otel, or auto')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'File to write; standard output unless given')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; standard output unless given')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace the file if there is one')
            [CompletionResult]::new('--keep-going', '--keep-going', [CompletionResultType]::ParameterName, 'Import what can be read although some lines can''t; exits with 3 then')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print what was read as JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;cache' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count the replies in it, by model')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete old replies')
            [CompletionResult]::new('clear', 'clear', [CompletionResultType]::ParameterValue, 'Delete all replies')
            break
        }
        'assize;cache;stats' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;cache;prune' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'Delete replies bought longer ago than this')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;cache;clear' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;explain' {
            [CompletionResult]::new('--suite', '--suite', [CompletionResultType]::ParameterName, 'Only the case of this suite, when several suites have one of that id')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Only the case answered by this target')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;doctor' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'List every provider, also those of which nothing is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'assize;man' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the pages of all commands into this folder')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write the pages of all commands into this folder')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour output')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'File of variables to read; `.env` in the working folder unless given. What is set already wins')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
