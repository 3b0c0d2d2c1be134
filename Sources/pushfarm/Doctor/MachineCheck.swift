import FarmConfiguration
import Foundation
import Supervision

/// Checks whether this machine is fit to run the farm.
struct MachineCheck {
    let configuration: Configuration

    /// The descriptor limit below which the check warns. A worker needs few descriptors, and a coordinator about one per
    /// worker.
    private static let fewDescriptors: UInt64 = 1024

    var findings: [Finding] { [user, descriptors, folder] + openFiles + [program].compactMap(\.self) }

    private var user: Finding {
        Finding(
            "user", .warning, when: FileTrust.isRoot,
            FileTrust.isRoot ? "runs as root" : "does not run as root",
            advice: "Use a separate user, which is safer: User=pushfarm in the unit.")
    }

    /// One finding for each file that contains a secret and can be read by every user.
    private var openFiles: [Finding] {
        let files =
            configuration.apps.flatMap(\.credentialFiles)
            + [configuration.redisPasswordFile].compactMap(\.self)
        return Set(files).sorted().filter(FileTrust.isPublic).map {
            Finding(
                "secret file", .warning, "every user of this machine can read \($0)",
                advice: "chmod o= \($0)")
        }
    }

    /// A finding if `pushfarm upgrade` would refuse to start the program; else nil.
    private var program: Finding? {
        do throws(FileTrust.TrustProblem) {
            _ = try FileTrust.program(configuration.program ?? Executable.own)
            return nil
        } catch {
            return Finding(
                "program", .warning, "\(error)",
                advice:
                    "pushfarm upgrade refuses it: let root or the farm's user own file and folder, mode 755.")
        }
    }

    private var descriptors: Finding {
        var limit = rlimit()
        #if canImport(Glibc)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        let count = UInt64(limit.rlim_cur)
        return Finding(
            "file descriptors", .warning, when: count < Self.fewDescriptors,
            "limit \(count > 1 << 40 ? "none" : String(count))",
            advice: "ulimit -n 65536, or LimitNOFILE=65536 in the unit.")
    }

    private var folder: Finding {
        let path = configuration.stateDirectory
        do {
            try StateFolder.make(path)
        } catch {
            return Finding(
                "state folder", .failed, error.message, advice: "Create the folder for the farm's user.")
        }
        var status = stat()
        stat(path, &status)
        let isOpen = status.st_mode & 0o077 != 0
        return Finding(
            "state folder", .warning, when: isOpen, path + (isOpen ? " is open to other users" : ""),
            advice: "chmod 700 \(path)")
    }
}
