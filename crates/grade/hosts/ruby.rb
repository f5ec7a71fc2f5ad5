# Calls a method of an author: reads {code, file, function, calls} from stdin, where each call is a list of arguments, and
# prints what it returned each time. What the method itself prints goes to stderr.
require 'json'

given = JSON.parse($stdin.read)
out = $stdout.dup
$stdout.reopen($stderr)

BROKEN = [NameError, ScriptError, NoMemoryError, SystemStackError].freeze

def find(given)
  if given['file']
    $LOAD_PATH.unshift(File.dirname(given['file']))
    load given['file']
    name = given['function']
    owner, method = name.include?('.') ? name.split('.', 2) : [nil, name]
    receiver = owner ? Object.const_get(owner) : self
    raise NameError, "the file has no method '#{name}'" unless receiver.respond_to?(method, true)

    return ->(*arguments) { receiver.send(method, *arguments) }
  end

  code = given['code']
  body = code.include?("\n") ? code : "return (#{code.strip})"
  eval("def assize_main(output, context)\n#{body}\nend", TOPLEVEL_BINDING, 'value', 0)
  ->(*arguments) { send(:assize_main, *arguments) }
end

def call_one(method, arguments)
  value = method.call(*arguments)
  begin
    { 'value' => JSON.parse(JSON.generate([value]))[0] }
  rescue StandardError => e
    { 'broken' => "the returned value is no JSON: #{e.message}" }
  end
rescue NoMethodError => e
  # A method that the answer does not have is about the answer, as in `nil.length`.
  { 'threw' => "#{e.class}: #{e.message}" }
rescue *BROKEN => e
  { 'broken' => "#{e.class}: #{e.message}" }
rescue StandardError => e
  { 'threw' => "#{e.class}: #{e.message}" }
end

reply =
  begin
    method = find(given)
    { 'results' => given['calls'].map { |arguments| call_one(method, arguments) } }
  rescue StandardError, ScriptError => e
    { 'broken' => "#{e.class}: #{e.message}" }
  end
out.write(JSON.generate(reply))
out.close
