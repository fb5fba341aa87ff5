# Completion of coordinator for fish. It asks the program what may follow.
function __coordinator_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in ($before[1] complete -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = ':file'
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c coordinator -f -a '(__coordinator_complete)'
