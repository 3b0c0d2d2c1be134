package import Foundation

/// A shell that outlives the test process, even after a crash, and cleans up. The shell kills the process groups of the tests,
/// and all processes whose command line names a test folder. The shell also removes network namespaces, mounts and folders.
package struct Guardian: Sendable {
    package static let shared = Guardian()

    private static let script = """
        groups=' ' spaces=' ' mounts=' ' folders=' '
        while read what name; do
            case "$what$groups$spaces$mounts$folders" in
            +*) groups="$groups$name " ;;
            -*" $name "*) groups="${groups%% $name *} ${groups#* $name }" ;;
            n*) spaces="$spaces$name " ;;
            d*" $name "*) spaces="${spaces%% $name *} ${spaces#* $name }" ;;
            m*) mounts="$mounts$name " ;;
            u*" $name "*) mounts="${mounts%% $name *} ${mounts#* $name }" ;;
            f*) folders="$folders$name " ;;
            r*" $name "*) folders="${folders%% $name *} ${folders#* $name }" ;;
            esac
        done
        for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
        # What leads a session of its own, such as the farm of an `up` that was killed, and what had just been started.
        [ "$folders" = ' ' ] || for process in /proc/[0-9]*; do
            line=$(tr '\\0' ' ' <"$process/cmdline") 2>/dev/null
            for folder in $folders; do
                case "$line" in
                *"$folder"*) kill -KILL "${process#/proc/}"; kill -KILL "-${process#/proc/}" ;;
                esac
            done
        done 2>/dev/null
        for space in $spaces; do ip netns del "$space" 2>/dev/null; done
        for mount in $mounts; do umount -l "$mount" 2>/dev/null; rmdir "$mount"; done
        for folder in $folders; do rm -rf -- "$folder"; done
        """

    /// `POSIX_SPAWN_SETSID`, which glibc's headers define for GNU sources only.
    private static let ownSession: Int16 = 0x80

    private let input: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        // A socket pair can get the close-on-exec flag when it is created. A pipe of `pipe()` gets this flag only in a
        // second call. A child that another thread starts between the two calls would inherit the pipe's writing end and
        // keep that end open after the tests.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "no pair of sockets: errno \(errno)")
        input = ends[1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The shell gets its own session and process group, so signals to the tests' group do not reach it.
        posix_spawnattr_setflags(&attributes, Self.ownSession)
        let arguments = CStrings(["sh", "-c", Self.script])
        var pid: pid_t = 0
        let status = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.pointers, environ)
        precondition(status == 0, "no guardian: errno \(status)")
        close(ends[0])
    }

    package func watch(_ group: pid_t) { send("+ \(group)\n") }
    package func forget(_ group: pid_t) { send("- \(group)\n") }

    func watch(namespace: String) { send("n \(namespace)\n") }
    func forget(namespace: String) { send("d \(namespace)\n") }

    func watch(mount: String) { send("m \(mount)\n") }
    func forget(mount: String) { send("u \(mount)\n") }

    /// - Parameter folder: a unique name without a space.
    package func watch(folder: String) { send("f \(folder)\n") }
    package func forget(folder: String) { send("r \(folder)\n") }

    /// Closes the connection to the guardian, as the system does when the test process ends.
    package func dismiss() { close(input) }

    private func send(_ line: String) { _ = line.withCString { write(input, $0, strlen($0)) } }
}
