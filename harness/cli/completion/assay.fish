# SPDX-License-Identifier: Apache-2.0
# Completion of `assay` in fish. The program says what may follow.
function __assay_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] __complete $words[2..] "$typed" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$typed"
        else
            echo $line
        end
    end
end
complete -c assay -f -a '(__assay_complete)'
