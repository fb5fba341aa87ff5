# Completion of coordinator for bash. It asks the program what may follow.
_coordinator() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  [ "$current" != '=' ] || current=''
  while IFS= read -r line; do
    if [ "$line" = ':file' ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _coordinator coordinator
