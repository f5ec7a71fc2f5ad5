# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_assize_global_optspecs
    string join \n color= env-file= h/help V/version
end

function __fish_assize_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_assize_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_assize_using_subcommand
    set -l cmd (__fish_assize_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c assize -n "__fish_assize_needs_command" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_needs_command" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_needs_command" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_needs_command" -f -a "init" -d 'Set up a folder: a small suite that runs at once, settings, schemas for editors, a workflow'
complete -c assize -n "__fish_assize_needs_command" -f -a "eval" -d 'Run eval files: get answers, judge them, score them'
complete -c assize -n "__fish_assize_needs_command" -f -a "run" -d 'Run eval files: get answers, judge them, score them'
complete -c assize -n "__fish_assize_needs_command" -f -a "plan" -d 'Say what `eval` with the same arguments would take: cases, calls, estimated tokens. Nothing is sent'
complete -c assize -n "__fish_assize_needs_command" -f -a "grade" -d 'Grade answers that are already there against a rubric'
complete -c assize -n "__fish_assize_needs_command" -f -a "try" -d 'Judge one answer by one criterion, to get its wording right; again on every save with `--watch`'
complete -c assize -n "__fish_assize_needs_command" -f -a "validate" -d 'Check eval files and scorecards; every problem with its place and its fix'
complete -c assize -n "__fish_assize_needs_command" -f -a "lint" -d 'Find what is sound and still a bad rubric; each finding with its reason'
complete -c assize -n "__fish_assize_needs_command" -f -a "convert" -d 'Write rubrics of one tool or format as those of another; lists what is not carried over'
complete -c assize -n "__fish_assize_needs_command" -f -a "generate" -d 'Draft what an eval file lacks: rubrics from expected outcomes'
complete -c assize -n "__fish_assize_needs_command" -f -a "score" -d 'Score a stored run again, after a rubric\'s weights or the lines changed, without asking a judge'
complete -c assize -n "__fish_assize_needs_command" -f -a "scorecard" -d 'Trees of rubrics over benchmarks: show what is in them, add up their results'
complete -c assize -n "__fish_assize_needs_command" -f -a "audit" -d 'Put a judge to the test: do texts, orders, lengths or names sway it?'
complete -c assize -n "__fish_assize_needs_command" -f -a "review" -d 'Decide case by case as a person: labels for scorecards and for measuring judges'
complete -c assize -n "__fish_assize_needs_command" -f -a "calibrate" -d 'Measure a judge against people: agreement, biases, corrected pass rates, limits for CI'
complete -c assize -n "__fish_assize_needs_command" -f -a "agreement" -d 'Measure how well raters agree with each other'
complete -c assize -n "__fish_assize_needs_command" -f -a "repeats" -d 'Measure how noisy repeated scores are, and what repeating brings'
complete -c assize -n "__fish_assize_needs_command" -f -a "compare" -d 'Compare runs case by case: better, worse, equivalent, or too few cases to tell'
complete -c assize -n "__fish_assize_needs_command" -f -a "pairwise" -d 'Let a judge compare the answers of two or more runs two at a time, in both orders, and rank the systems'
complete -c assize -n "__fish_assize_needs_command" -f -a "trend" -d 'Show runs in a row, with error bars, and where the way of measuring changed'
complete -c assize -n "__fish_assize_needs_command" -f -a "power" -d 'Say how many cases, repeats or labels are enough'
complete -c assize -n "__fish_assize_needs_command" -f -a "import" -d 'Turn what other programs recorded into cases'
complete -c assize -n "__fish_assize_needs_command" -f -a "cache" -d 'Look at the reply cache, or make it smaller'
complete -c assize -n "__fish_assize_needs_command" -f -a "explain" -d 'Print the arithmetic behind a case\'s score'
complete -c assize -n "__fish_assize_needs_command" -f -a "lsp" -d 'Serve an editor on stdin and stdout: problems while typing, hints, completion (language server protocol)'
complete -c assize -n "__fish_assize_needs_command" -f -a "doctor" -d 'Say which judges are usable here, and what the others lack'
complete -c assize -n "__fish_assize_needs_command" -f -a "schema" -d 'Print the JSON Schema of a kind of file, for editors and other programs'
complete -c assize -n "__fish_assize_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c assize -n "__fish_assize_needs_command" -f -a "man" -d 'Print a man page, or write all of them'
complete -c assize -n "__fish_assize_using_subcommand init" -l format -d 'What the first suite is written in' -r -f -a "1\t'`evalcases` with `rubrics`'
2\t'`tests` with `assertions`'
scorecard\t'A tree of rubrics over benchmarks'"
complete -c assize -n "__fish_assize_using_subcommand init" -l judge -d 'The judge that the configuration names' -r
complete -c assize -n "__fish_assize_using_subcommand init" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand init" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand init" -s y -l yes -d 'Ask nothing. What is already there is kept'
complete -c assize -n "__fish_assize_using_subcommand init" -l force -d 'Overwrite what is already there'
complete -c assize -n "__fish_assize_using_subcommand init" -l json -d 'Print what was done as JSON'
complete -c assize -n "__fish_assize_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand init" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand eval" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand eval" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand eval" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand eval" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l repeat -d 'Run each case N times; beats what suites and cases say' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l repeat-strategy -d 'What the repeats of a case come to: one that passes is enough, each must pass, the mean of their scores, or the lower end of its interval. Without it what the suite says, or the mean' -r -f -a "pass_at_k\t'One repeat that passes is enough'
pass_all\t'Each repeat must pass'
mean\t'The mean of the scores counts'
confidence_interval\t'The lower end of the 95 % interval around the mean counts'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l seed -d 'Number that decides the order of `--shuffle`: the same one gives the same order. It is told when it is not given' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l bail -d 'Begin nothing more once N cases did not pass; 1 unless given. `--resume` goes on with the rest' -r
complete -c assize -n "__fish_assize_using_subcommand eval" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand eval" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand eval" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand eval" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand eval" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand eval" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand eval" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand eval" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand eval" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand eval" -l shuffle -d 'Run the cases in a random order. They are all held in memory then'
complete -c assize -n "__fish_assize_using_subcommand eval" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand eval" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand run" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand run" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand run" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand run" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand run" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand run" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand run" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand run" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand run" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand run" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand run" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand run" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand run" -l repeat -d 'Run each case N times; beats what suites and cases say' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l repeat-strategy -d 'What the repeats of a case come to: one that passes is enough, each must pass, the mean of their scores, or the lower end of its interval. Without it what the suite says, or the mean' -r -f -a "pass_at_k\t'One repeat that passes is enough'
pass_all\t'Each repeat must pass'
mean\t'The mean of the scores counts'
confidence_interval\t'The lower end of the 95 % interval around the mean counts'"
complete -c assize -n "__fish_assize_using_subcommand run" -l seed -d 'Number that decides the order of `--shuffle`: the same one gives the same order. It is told when it is not given' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l bail -d 'Begin nothing more once N cases did not pass; 1 unless given. `--resume` goes on with the rest' -r
complete -c assize -n "__fish_assize_using_subcommand run" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand run" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand run" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand run" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand run" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand run" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand run" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand run" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand run" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand run" -l shuffle -d 'Run the cases in a random order. They are all held in memory then'
complete -c assize -n "__fish_assize_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand run" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand plan" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand plan" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand plan" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand plan" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l repeat -d 'Run each case N times; beats what suites and cases say' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l repeat-strategy -d 'What the repeats of a case come to: one that passes is enough, each must pass, the mean of their scores, or the lower end of its interval. Without it what the suite says, or the mean' -r -f -a "pass_at_k\t'One repeat that passes is enough'
pass_all\t'Each repeat must pass'
mean\t'The mean of the scores counts'
confidence_interval\t'The lower end of the 95 % interval around the mean counts'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l seed -d 'Number that decides the order of `--shuffle`: the same one gives the same order. It is told when it is not given' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l bail -d 'Begin nothing more once N cases did not pass; 1 unless given. `--resume` goes on with the rest' -r
complete -c assize -n "__fish_assize_using_subcommand plan" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand plan" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand plan" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand plan" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand plan" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand plan" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand plan" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand plan" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand plan" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand plan" -l shuffle -d 'Run the cases in a random order. They are all held in memory then'
complete -c assize -n "__fish_assize_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand plan" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand grade" -l answers -d 'The answers, one JSON object a line' -r -F
complete -c assize -n "__fish_assize_using_subcommand grade" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand grade" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand grade" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand grade" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand grade" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand grade" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand grade" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand grade" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand grade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand grade" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand try" -l answer -d 'The answer. Without it or `--answer-file` the answer comes from standard input, or from the case' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l answer-file -d 'File with the answer; `-` for standard input' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l question -d 'What was asked' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l reference -d 'An example of a good answer, shown to the judge' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l expected-outcome -d 'What a good answer does, in a sentence, shown to the judge' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l range -d 'A score range of the criterion, such as `5-10: friendly`; together they cover 0 to 10' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l rubric -d 'Rubric file to judge by; with `--case` an eval file' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l case -d 'Case of the eval file whose rubric, question and answer are taken' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l watch -d 'The same as `--rubric`, and again whenever the file or the answer\'s file is saved, until interrupted: only criteria that changed are judged and printed' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand try" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand try" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand try" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand try" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l truncate -d 'What is done when a judge can\'t read all of the material: `head`, `tail`, `middle`, `chunk` or `never`' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l threshold -d 'Pass line, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand try" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand try" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand try" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand try" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand try" -l json -d 'Print JSON on stdout: one object, and with `--watch` one line for each criterion that was judged'
complete -c assize -n "__fish_assize_using_subcommand try" -s q -l quiet -d 'No notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand try" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand validate" -l format -d 'How problems are printed' -r -f -a "text\t'For people, with the source line'
json\t'One JSON object'
github\t'GitHub workflow commands'
sarif\t'SARIF 2.1.0'"
complete -c assize -n "__fish_assize_using_subcommand validate" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand validate" -l max-warnings -d 'Exit with 2 when there are more warnings than this' -r
complete -c assize -n "__fish_assize_using_subcommand validate" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand validate" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand validate" -l json -d 'Same as `--format json`'
complete -c assize -n "__fish_assize_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand validate" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand lint" -l format -d 'How findings are printed' -r -f -a "text\t'For people, with the source line'
json\t'One JSON object'
github\t'GitHub workflow commands'
sarif\t'SARIF 2.1.0'"
complete -c assize -n "__fish_assize_using_subcommand lint" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand lint" -l only -d 'Apply only this rule, by code or name; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l skip -d 'Leave this rule out, by code or name; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l judge -d 'Have a model apply the rules that need one: a model such as `openai:gpt-4o-mini`, or the name of a target' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand lint" -s j -l workers -d 'Rubrics that the model looks at at once' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand lint" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand lint" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand lint" -l json -d 'Same as `--format json`'
complete -c assize -n "__fish_assize_using_subcommand lint" -l strict -d 'Exit with 1 when anything is found'
complete -c assize -n "__fish_assize_using_subcommand lint" -l fix -d 'Make the changes that are sure to keep the meaning; everything else in the files stays as it is'
complete -c assize -n "__fish_assize_using_subcommand lint" -l dry-run -d 'Say what the model would be asked and what that would cost, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand lint" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand lint" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand lint" -l list -d 'List the rules'
complete -c assize -n "__fish_assize_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand lint" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand convert" -l to -d 'What to write' -r -f -a "format1\t'An eval file with `evalcases`'
format2\t'An eval file with `tests` and `assertions`'
scorecard\t'A scorecard in one file'
promptfoo\t'A promptfoo configuration'
healthbench\t'HealthBench examples, JSONL'
paperbench\t'A PaperBench rubric tree, JSON'
csv\t'A table of criteria'"
complete -c assize -n "__fish_assize_using_subcommand convert" -l kind -d 'What the file is; told by what stands in it unless given' -r -f -a "suite\t'An eval file of either format'
scorecard\t'A scorecard, folder or file'
promptfoo\t'A promptfoo configuration'
healthbench\t'HealthBench examples'
paperbench\t'A PaperBench rubric tree'
devai\t'DevAI tasks'
csv\t'A table of criteria'"
complete -c assize -n "__fish_assize_using_subcommand convert" -s o -l out -d 'File to write; stdout unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand convert" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand convert" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand convert" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand convert" -l force -d 'Overwrite the file if it is there'
complete -c assize -n "__fish_assize_using_subcommand convert" -l json -d 'Print one JSON object on stdout: the list of what was not carried over, and the text unless `--out` is given'
complete -c assize -n "__fish_assize_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand convert" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand generate; and not __fish_seen_subcommand_from rubrics" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand generate; and not __fish_seen_subcommand_from rubrics" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand generate; and not __fish_seen_subcommand_from rubrics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand generate; and not __fish_seen_subcommand_from rubrics" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand generate; and not __fish_seen_subcommand_from rubrics" -f -a "rubrics" -d 'Draft criteria for every case that has an expected outcome and no rubric'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -s t -l target -d 'Target of the targets file whose model drafts' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l judge -d 'Model that drafts, such as `openai:gpt-4o-mini`, or `offline` for drafts without a model' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l filter -d 'Only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -s j -l workers -d 'Cases drafted at once' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l ranges -d 'Criteria with score ranges from 0 to 10 instead of yes or no'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l dry-run -d 'Show what would be written, and write nothing. Models are asked; their replies are kept, so that the same command without this costs nothing more'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l replace -d 'Put new drafts in the place of the rubrics that cases have'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -l json -d 'Print one JSON object on stdout'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand generate; and __fish_seen_subcommand_from rubrics" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand score" -l rubric -d 'Rubric whose weights, gates and criteria replace those of the run' -r -F
complete -c assize -n "__fish_assize_using_subcommand score" -l threshold -d 'Pass line, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand score" -l borderline -d 'Borderline line, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand score" -s o -l out -d 'Folder to store the scored run in; nothing is stored unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand score" -l show -d 'Cases to print in full' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand score" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand score" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand score" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand score" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand score" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -f -a "list" -d 'Print the tree with weights, thresholds, evaluators and how many cases each part has'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -f -a "run" -d 'Judge every benchmark on the cases it applies to, and add up the tree'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -f -a "score" -d 'Add up what is already there, a stored run or results and labels: scores, gates, what blocks what'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and not __fish_seen_subcommand_from list run score compare" -f -a "compare" -d 'Compare two runs part by part, over the cases both have'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -l weights -d 'The weight set of the index to show, instead of the one it names' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -l root -d 'Folder that the scorecard may read from, beside its own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l weights -d 'The weight set of the index that counts, instead of the one it names' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l treat-missing -d 'How a case without a result counts' -r -f -a "incomplete\t'As unknown: what is above can\'t pass'
zero\t'As a score of 0'
skip\t'As a case that does not apply'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l markdown -d 'Write a report in Markdown as well' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l target -d 'Target that produces the output of cases without a `candidate_output`' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l filter -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l tag -d 'Run only cases that carry this tag; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l root -d 'Folder that the scorecard may read from, beside its own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l weights -d 'The weight set of the index to show, instead of the one it names' -r
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l root -d 'Folder that the scorecard may read from, beside its own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l results -d 'Results, one JSON object a line' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l treat-missing -d 'How a case without a result counts' -r -f -a "incomplete\t'As unknown: what is above can\'t pass'
zero\t'As a score of 0'
skip\t'As a case that does not apply'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l markdown -d 'Write a report in Markdown as well' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from score" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -l treat-missing -d 'How a case without a result counts' -r -f -a "incomplete\t'As unknown: what is above can\'t pass'
zero\t'As a score of 0'
skip\t'As a case that does not apply'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand scorecard; and __fish_seen_subcommand_from compare" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "injection" -d 'Put texts that try to talk the judge round into answers, and see which decisions change'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "order" -d 'Put the criteria of a call in other orders, and see which decisions change'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "length" -d 'Make answers longer and shorter without a change to what they say, and see how scores move'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "self" -d 'Let judges of several families judge the answers of several targets, and see whom they prefer'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "probes" -d 'Print the probes: the texts, their classes, where each attack is described'
complete -c assize -n "__fish_assize_using_subcommand audit; and not __fish_seen_subcommand_from injection order length self probes show" -f -a "show" -d 'Print the figures of a stored audit again'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l probes -d 'Probes to use, by name; all unless given. `assize audit probes` lists them' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l place -d 'Where in the answer: `append`, `prepend` or `inject` (into the middle); each probe\'s own place unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l repeats -d 'How often the unchanged answer is judged again, to see what changes by itself' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l max-cases -d 'Cases to look at, chosen at random if there are more' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l seed -d 'Seed of that choice' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l max-flip-rate -d 'Highest share of decisions that attacks may turn in the answer\'s favour, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from injection" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l repeats -d 'How often each unchanged answer is judged again, to see what changes by itself' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l max-cases -d 'Cases to look at, chosen at random if there are more' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l seed -d 'Seed of what is drawn at random' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l permutations -d 'Other orders of each rubric: the reverse, then orders drawn at random' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l max-flip-rate -d 'Highest share of decisions that another order may change, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from order" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l repeats -d 'How often each unchanged answer is judged again, to see what changes by itself' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l max-cases -d 'Cases to look at, chosen at random if there are more' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l seed -d 'Seed of what is drawn at random' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l max-shift -d 'Largest mean score shift, up or down, that an edit may cause, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from length" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l target -d 'Target to run against, instead of the one the file names; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l targets -d 'File that defines the targets' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l filter -l test-id -d 'Run only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l tag -d 'Run only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l deny -d 'Refuse to run what is usually only warned about' -r -f -a "self-judging\t'A model that judges its own answers'
warnings\t'Any warning about an eval file'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l repeats -d 'How often each unchanged answer is judged again, to see what changes by itself' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l max-cases -d 'Cases to look at, chosen at random if there are more' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l seed -d 'Seed of what is drawn at random' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l family -d 'The family of a judge or target' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l max-preference -d 'Largest self-preference, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l keep-going -d 'Run the sound cases of a file that has problems; the exit code is then at least 3'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l keep-workspaces -d 'Leave the workspaces of the cases where they are after the run, to look into them; says where'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l dry-run -d 'Say what the run would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from self" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from probes" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from probes" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from probes" -l json -d 'Print a JSON list, with the texts in full'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from probes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from probes" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -l max-flip-rate -l limit -d 'The limit of the audit: highest share of decisions that attacks may turn in the answer\'s favour or another order may change, largest score shift of an edit, or largest self-preference, 0 to 1' -r
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand audit; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand review" -l who -d 'Who decides; the name stands in every label. The login name unless given' -r
complete -c assize -n "__fish_assize_using_subcommand review" -l labels -d 'Folder of the labels, one file a reviewer. `labels` beside the scorecard or eval file unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand review" -l order -d '`queue` (what waits for a person), `random`, `random:SEED` or `uncertain-first` (both everything)' -r
complete -c assize -n "__fish_assize_using_subcommand review" -l limit -d 'At most so many items' -r
complete -c assize -n "__fish_assize_using_subcommand review" -l filter -d 'Only items of cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand review" -l criterion -d 'Only items of this criterion or benchmark; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand review" -l split -d 'What the labels may be used for' -r -f -a "test\t'Those kept back for testing'
train\t'Those the judge was tuned on: no measure of the judge'"
complete -c assize -n "__fish_assize_using_subcommand review" -l decisions -d 'Read the decisions from this file, one a line' -r -F
complete -c assize -n "__fish_assize_using_subcommand review" -l root -d 'Folder that the files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand review" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand review" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand review" -l traces -d 'Name the first failure of each case of a scorecard instead of deciding benchmark by benchmark'
complete -c assize -n "__fish_assize_using_subcommand review" -l again -d 'Show again what you have decided before'
complete -c assize -n "__fish_assize_using_subcommand review" -l plain -d 'Lines of text instead of a screen, for screen readers'
complete -c assize -n "__fish_assize_using_subcommand review" -l agreement -d 'Decide nothing; print how far the reviewers agree'
complete -c assize -n "__fish_assize_using_subcommand review" -l json -d 'Print the agreement as one JSON object'
complete -c assize -n "__fish_assize_using_subcommand review" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand review" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand calibrate" -s l -l labels -d 'Labels: files, or folders of them' -r -F
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l columns -d 'Which column holds what, such as `case=item_id,criterion=category,label=verdict`' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l values -d 'How outcomes are spelled, such as `met=1,unmet=0,not_applicable=-`' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l scale -d 'The scores that may be given, such as `0..10` or `1,2,3,4`' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l level -d 'Confidence level of every interval' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l resamples -d 'Resamples behind intervals that have no formula' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l seed -d 'Where the random numbers of resampling start' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l judge-is -d 'Whose labels are the judge\'s, where it stands among the raters' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l threshold -d 'From this probability on, `met`' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l reading -d 'How a distribution over scores is read' -r -f -a "expected\t'Its mean'
likeliest\t'Its likeliest score'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l truth -d 'What the judge is measured against where several people labelled an item' -r -f -a "each\t'Every label by itself'
consensus\t'The majority of verdicts, the mean of scores'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l cluster -d 'What is independent evidence' -r -f -a "case\t'Cases (or the column `cluster`)'
item\t'Each criterion of each case'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l split -d 'Which labels count, by what they say of themselves' -r -f -a "test\t'Those kept back for testing'
train\t'Those the judge was tuned on: no measure of the judge'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l holdout -d 'Measure on this share of the cases, chosen by their ids' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l exclude -d 'Cases that the judge was shown as examples; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l sensitivity -d 'Of truly met, the share the judge finds met, known from elsewhere: `69/81`, or `0.85` without interval' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l specificity -d 'Of truly unmet, the share the judge finds unmet, known from elsewhere' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-kappa -d 'Cohen\'s kappa of verdicts' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-ac1 -d 'Gwet\'s AC1 of verdicts' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-accuracy -d 'Raw agreement of verdicts' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-balanced-accuracy -d 'Mean of sensitivity and specificity' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-sensitivity -d 'Of what people find met, the share the judge finds met' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-specificity -d 'Of what people find unmet, the share the judge finds unmet' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-macro-f1 -d 'Mean F1 of met and unmet' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-mcc -d 'Matthews\' correlation of verdicts' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-spearman -d 'Spearman\'s correlation of scores' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l min-quadratic-kappa -d 'Quadratic kappa of scores' -r
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l gate-on -d 'What is held against the limits' -r -f -a "estimate\t'The figure itself'
lower\t'The lower end of its interval'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l assume-random -d 'Take the labelled cases as drawn by lot, whatever their labels say'
complete -c assize -n "__fish_assize_using_subcommand calibrate" -l pairs -d 'The table holds preferences between two answers in both orders (`preferred`, `first`, `second`)'
complete -c assize -n "__fish_assize_using_subcommand calibrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand calibrate" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand agreement" -l columns -d 'Which column holds what, such as `case=item_id,criterion=category,label=verdict`' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l values -d 'How outcomes are spelled, such as `met=1,unmet=0,not_applicable=-`' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l scale -d 'The scores that may be given, such as `0..10` or `1,2,3,4`' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l level -d 'Confidence level of every interval' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l resamples -d 'Resamples behind intervals that have no formula' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l seed -d 'Where the random numbers of resampling start' -r
complete -c assize -n "__fish_assize_using_subcommand agreement" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand agreement" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand agreement" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand agreement" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand agreement" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand repeats" -l right -d 'Place of the right answer among the answers of a row, from 0' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -s k -d 'How many scores to average: the first one, the first three, …' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l columns -d 'Which column holds what, such as `case=item_id,criterion=category,label=verdict`' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l values -d 'How outcomes are spelled, such as `met=1,unmet=0,not_applicable=-`' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l scale -d 'The scores that may be given, such as `0..10` or `1,2,3,4`' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l level -d 'Confidence level of every interval' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l resamples -d 'Resamples behind intervals that have no formula' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l seed -d 'Where the random numbers of resampling start' -r
complete -c assize -n "__fish_assize_using_subcommand repeats" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand repeats" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand repeats" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand repeats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand repeats" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand compare" -l metric -d 'The figure that the verdict is about' -r -f -a "score\t'The mean score'
pass-rate\t'The share of cases that passed'"
complete -c assize -n "__fish_assize_using_subcommand compare" -l margin -d 'Differences up to this size do not matter: an interval within it means equivalent' -r
complete -c assize -n "__fish_assize_using_subcommand compare" -l level -d 'Confidence level of intervals and tests' -r
complete -c assize -n "__fish_assize_using_subcommand compare" -l adjust -d 'How p values of comparisons that stand beside each other are adjusted: to decide which got worse, or to scan many' -r -f -a "holm\t'Holm: the chance of any false alarm stays below 5 %'
bh\t'Benjamini-Hochberg: the share of false alarms among the alarms stays below 5 %'
none\t'Not at all'"
complete -c assize -n "__fish_assize_using_subcommand compare" -l seed -d 'Seed of what is drawn at random' -r
complete -c assize -n "__fish_assize_using_subcommand compare" -l allow -d 'Ways of measuring that may differ between the runs; they are marked, not refused' -r -f -a "question\t'What cases ask or expect'
rubric\t'Criteria: words, weights, gates'
judge\t'Who judged'
prompt\t'The judge\'s instructions'
judging\t'How many criteria went into a call'
lines\t'The lines of verdicts'
all\t'All of them'"
complete -c assize -n "__fish_assize_using_subcommand compare" -l fail-on -d 'Fail when something is worse beyond chance' -r -f -a "worse\t'Pass rate or mean score'
any-worse\t'Also a suite, tag, grader or criterion, after adjusting'"
complete -c assize -n "__fish_assize_using_subcommand compare" -l max-drop -d 'Fail when pass rate or mean score dropped by more than this; under --strict the interval must rule it out' -r
complete -c assize -n "__fish_assize_using_subcommand compare" -l flips -d 'Changed cases of either kind to show with their reasons; 10, and 1000 with --json, unless given' -r
complete -c assize -n "__fish_assize_using_subcommand compare" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand compare" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand compare" -l bootstrap -d 'Resample for intervals of score differences instead of Student\'s t'
complete -c assize -n "__fish_assize_using_subcommand compare" -l fail-on-regression -d 'Fail when a case that passed no longer does'
complete -c assize -n "__fish_assize_using_subcommand compare" -l strict -d 'Exit with 5 when the comparison is inconclusive'
complete -c assize -n "__fish_assize_using_subcommand compare" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand compare" -l markdown -d 'Print Markdown, for a comment on a change'
complete -c assize -n "__fish_assize_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand compare" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l suite -d 'Eval file, or folder with eval files, that holds the cases; may be given several times. Those of the runs unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l criteria -d 'What makes an answer the better one; may be given several times. What was asked and expected unless given' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l rank-ties -d 'What ties and orders that disagree say in the ranking: half a win for either side, or an end of their own' -r -f -a "half\t'Half a win for either side'
davidson\t'An end of its own, likelier the closer the systems are (Davidson)'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l filter -l test-id -d 'Compare only cases whose id matches this pattern; may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l tag -d 'Compare only cases that carry this tag (or whose suite does); may be given several times' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l targets -d 'File that defines the targets, one of which may judge' -r -F
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l judge -d 'Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`; given several times, all of them as a panel' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l judge-weight -d 'Weight of a judge, for `--combine weighted`; given once for each judge' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l judge-repeats -d 'How often each judge is asked, 1 to 100' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l judge-temperature -d 'Sampling temperature of the judges, 0 to 2; 0 unless given' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l combine -d 'How votes become one decision; by majority on met and unmet and by the mean on scores unless given' -r -f -a "majority\t'More votes for it than against it; the score given most often'
mean\t'The mean of scores; met if more than half of the votes say so'
median\t'The middle score'
unanimous\t'Met if all votes say so; the lowest score'
any\t'Met if any vote says so; the highest score'
weighted\t'The mean by `--judge-weight`'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l ties -d 'What becomes of a tie; ungraded unless given' -r -f -a "ungraded\t'Nothing was decided'
fail\t'Unmet; the lowest of the tied scores'
pass\t'Met; the highest of the tied scores'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l scoring -d 'What a decision is read off: what the judge writes, or how likely its tokens were. Written unless given' -r -f -a "written\t'The decision as written'
logprobs\t'The expected decision, from log-probabilities; needs a judge that tells them'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l escalate -d 'Judge that is asked only where the others are not sure' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l warm-up -d 'Whether the first call about an answer is awaited before the others, so that they find what they share in the provider\'s cache. `auto` does so where each call that finds nothing there costs extra' -r -f -a "auto\t'Where it saves a fee'
always\t'With every provider'
never\t'Never: all calls at once'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l judging -d 'Criteria in one judge call: `per-criterion`, `batched` or `batched:N`' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -s j -l workers -d 'Cases worked on at once; without it as many as keep every permitted request to models in flight, and 8 commands' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l max-concurrency -l judge-calls -d 'Requests in flight to one account at most: the number found by itself never passes this one. Without it 256, and 32 for a server on this machine' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l requests-per-minute -d 'Requests sent to one account in a minute at most' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l tokens-per-minute -d 'Tokens read and written on one account in a minute at most; estimated before, corrected by what replies report' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l request-timeout -d 'Time that one request to a model may take, such as `90s`; 3 minutes unless given' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l deadline -d 'Time that the run may take, such as `30m`: what is not done by then stays undone, and `--resume` goes on with it' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l budget-calls -d 'Requests to models at most, for answers and judgements together; then the command stops and keeps what it has' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l budget-tokens -d 'Tokens at most, read and written, of all requests together' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l budget-usd -d 'US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l max-output-tokens -d 'Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l budget-unknown-price -d 'What `--budget-usd` makes of a model whose price is not known: refuse to run, or leave it out of the count' -r -f -a "refuse\t'Nothing is run'
allow\t'Its calls are not counted in money'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l context-tokens -d 'Tokens that models can read and write in one call, whatever the table of models says' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l truncate -d 'What is done when a judge can\'t read all of the material: leave out its `head`, `tail` or `middle`, judge the answer in parts (`chunk`), or leave the criterion ungraded (`never`)' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l threshold -d 'Pass line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l borderline -d 'Borderline line, 0 to 1; beats what cases and suites say' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -s o -l out -d 'Folder for the run; `.assize/runs/<id>` unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l resume -d 'Go on with a stopped run: its folder, its id, or nothing for the newest one of this suite. Finished cases whose inputs are unchanged are kept' -r
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l show -d 'Cases to print in full: `auto` prints all of a small run and the failing ones of a large one' -r -f -a "auto\t'All of a small run, the failing ones of a large one'
all\t'All'
failed\t'Those that did not pass'
none\t'None: only the summary'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l dry-run -d 'Say what the comparison would take, and send nothing'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l markdown -d 'Print Markdown instead of tables'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l no-cache -d 'Ask every model anew, and keep no reply'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l cache-only -d 'Send nothing to models: what the reply cache does not hold stays undone and is said so'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -l json -d 'Print one JSON object on stdout instead of tables'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -s q -l quiet -d 'No progress and no notices on stderr; problems are still told'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand pairwise" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand trend" -l suite -d 'Only the cases of this suite, and only runs that hold it' -r
complete -c assize -n "__fish_assize_using_subcommand trend" -l target -d 'Only the answers of this target' -r
complete -c assize -n "__fish_assize_using_subcommand trend" -l last -d 'Only the newest so many runs' -r
complete -c assize -n "__fish_assize_using_subcommand trend" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand trend" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand trend" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand trend" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand trend" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand power" -l from -d 'A run to learn from, or two of the same cases: folder, id, `last`, `last~N`, `RUN@TARGET`' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l width -d 'Wanted: full width of the interval, such as 0.1 for 0.05 to either side' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l difference -d 'Wanted: a difference that is to be shown' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l cases -d 'Wanted: what so many cases can show' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l power -d 'Chance that a difference is shown if it is there' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l level -d 'Confidence level' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l pass-rate -d 'Known: the pass rate' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l discordance -d 'Known: share of pairs of which only one passes' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l score-sd -d 'Known: standard deviation of scores over cases' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l difference-sd -d 'Known: standard deviation of score differences over pairs' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l between -d 'Known: variance of scores between cases; with --within, for numbers of repeats' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l within -d 'Known: variance of scores within a case' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l cluster-size -d 'Known: cases in a cluster' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l icc -d 'Known: correlation of cases within a cluster' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l sensitivity -d 'Known: the judge\'s sensitivity' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l specificity -d 'Known: the judge\'s specificity' -r
complete -c assize -n "__fish_assize_using_subcommand power" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand power" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand power" -l json -d 'Print one JSON object'
complete -c assize -n "__fish_assize_using_subcommand power" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand power" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand import; and not __fish_seen_subcommand_from transcript" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand import; and not __fish_seen_subcommand_from transcript" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand import; and not __fish_seen_subcommand_from transcript" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand import; and not __fish_seen_subcommand_from transcript" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand import; and not __fish_seen_subcommand_from transcript" -f -a "transcript" -d 'Turn the session logs of agents into cases with their answers'
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l format -d 'Who wrote them: claude-code, codex, copilot, gemini, opencode, pi, otel, or auto' -r
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -s o -l out -d 'File to write; standard output unless given' -r -F
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l force -d 'Replace the file if there is one'
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l keep-going -d 'Import what can be read although some lines can\'t; exits with 3 then'
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -l json -d 'Print what was read as JSON'
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand import; and __fish_seen_subcommand_from transcript" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -f -a "stats" -d 'Count the replies in it, by model'
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -f -a "prune" -d 'Delete old replies'
complete -c assize -n "__fish_assize_using_subcommand cache; and not __fish_seen_subcommand_from stats prune clear" -f -a "clear" -d 'Delete all replies, also of a cache that can\'t be read any more'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from stats" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from stats" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from stats" -l json -d 'Print JSON'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from stats" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -l older-than -d 'Delete replies bought at least this long ago: days, or a length of time such as `12h` or `7d`' -r
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -l json -d 'Print JSON'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from prune" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from clear" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from clear" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from clear" -l json -d 'Print JSON'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand cache; and __fish_seen_subcommand_from clear" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand explain" -l suite -d 'Only the case of this suite, when several suites have one of that id' -r
complete -c assize -n "__fish_assize_using_subcommand explain" -l target -d 'Only the case answered by this target' -r
complete -c assize -n "__fish_assize_using_subcommand explain" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand explain" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand explain" -l json -d 'Print JSON'
complete -c assize -n "__fish_assize_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand explain" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand lsp" -l root -d 'Folder that eval files may read from, beside their own repository; may be given several times' -r -F
complete -c assize -n "__fish_assize_using_subcommand lsp" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand lsp" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand lsp" -l stdio -d 'Taken for editors that add it; standard input and output are used in any case'
complete -c assize -n "__fish_assize_using_subcommand lsp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand lsp" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand doctor" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand doctor" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand doctor" -l check -d 'Ask each server that is set up whether it takes the key. That costs nothing: it is asked for its list of models'
complete -c assize -n "__fish_assize_using_subcommand doctor" -l json -d 'Print JSON'
complete -c assize -n "__fish_assize_using_subcommand doctor" -l all -d 'List every provider, also those of which nothing is set up'
complete -c assize -n "__fish_assize_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand schema" -s o -l out -d 'Write all of them into this folder, as `NAME.schema.json`' -r -F
complete -c assize -n "__fish_assize_using_subcommand schema" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand schema" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand schema" -l json -d 'List the kinds as JSON'
complete -c assize -n "__fish_assize_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand schema" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand completions" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand completions" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand completions" -s V -l version -d 'Print version'
complete -c assize -n "__fish_assize_using_subcommand man" -s o -l out -d 'Write the pages of all commands into this folder' -r -F
complete -c assize -n "__fish_assize_using_subcommand man" -l color -d 'When to colour output' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c assize -n "__fish_assize_using_subcommand man" -l env-file -d 'File of variables to read; `.env` in the working folder unless given. What is set already wins' -r -F
complete -c assize -n "__fish_assize_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c assize -n "__fish_assize_using_subcommand man" -s V -l version -d 'Print version'
