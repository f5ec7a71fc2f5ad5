const problem = xmlProblem(String(output).trim());
return verdict(problem === null, problem ?? 'the elements are balanced');
