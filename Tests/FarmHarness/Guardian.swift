package import Foundation

/// A shell that outlives the test process, and then ends the process groups and the network namespaces that it left behind.
package struct Guardian: Sendable {
    package static let shared = Guardian()

    private static let script = """
        groups=' ' spaces=' ' mounts=' '
        while read what name; do
            case "$what$groups$spaces$mounts" in
            +*) groups="$groups$name " ;;
            -*" $name "*) groups="${groups%% $name *} ${groups#* $name }" ;;
            n*) spaces="$spaces$name " ;;
            d*" $name "*) spaces="${spaces%% $name *} ${spaces#* $name }" ;;
            m*) mounts="$mounts$name " ;;
            u*" $name "*) mounts="${mounts%% $name *} ${mounts#* $name }" ;;
            esac
        done
        for group in $groups; do kill -KILL -- "-$group" 2>/dev/null; done
        for space in $spaces; do ip netns del "$space" 2>/dev/null; done
        for mount in $mounts; do umount -l "$mount" 2>/dev/null; rmdir "$mount"; done
        """

    private let input: Int32

    private init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe: errno \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        input = ends[1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // In a group of its own: what ends the test's group leaves it alone.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        let arguments = CStrings(["sh", "-c", Self.script])
        var pid: pid_t = 0
        let status = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.pointers, environ)
        precondition(status == 0, "no guardian: errno \(status)")
        close(ends[0])
    }

    package func watch(_ group: pid_t) { tell("+ \(group)\n") }
    package func forget(_ group: pid_t) { tell("- \(group)\n") }

    func watch(namespace: String) { tell("n \(namespace)\n") }
    func forget(namespace: String) { tell("d \(namespace)\n") }

    func watch(mount: String) { tell("m \(mount)\n") }
    func forget(mount: String) { tell("u \(mount)\n") }

    private func tell(_ line: String) { _ = line.withCString { write(input, $0, strlen($0)) } }
}
