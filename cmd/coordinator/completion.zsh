#compdef coordinator
# Completion of coordinator for zsh. It asks the program what may follow.
_coordinator() {
  local line
  local -a described
  for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :file) _files ;;
      *) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( ! $#described )) || _describe 'coordinator' described
}
if [ "$funcstack[1]" = _coordinator ]; then
  _coordinator "$@"
else
  compdef _coordinator coordinator
fi
