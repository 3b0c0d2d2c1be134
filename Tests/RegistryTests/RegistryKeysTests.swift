import Registry
import StoreProtocol
import Testing

struct RegistryKeysTests {
    @Test func `the keys of a partition are in a slot of their own`() {
        let keys = RegistryKeys(app: "news")
        #expect(String(decoding: keys.prefix(ofPartition: 3), as: UTF8.self) == "{pushfarm:news:r03}:")
        #expect(String(decoding: keys.prefix(ofPartition: 15), as: UTF8.self) == "{pushfarm:news:r15}:")
        let key = RegistryKey.bits(name: 7, chunk: 2).key(keys.keys(ofPartition: 0))
        #expect(String(decoding: key, as: UTF8.self) == "{pushfarm:news:r00}:bits:7:2")
    }

    @Test(arguments: [
        (RegistryKey.meta, "meta"), (.names, "names"), (.free, "free"), (.records(of: 300), "dev:2"),
        (.index(.id, bucket: 4), "id:4"), (.index(.token, bucket: 0), "token:0"),
        (.index(.user, bucket: 12), "user:12"),
    ])
    func `keys have these names`(key: RegistryKey, suffix: String) { #expect(key.suffix == suffix) }

    @Test func `the hash of an id gives its partition, field and bucket`() throws {
        // XXH64("abc") with seed 0 is 44BC2CF5AD770999.
        let hash = RegistryHash(id: "abc")
        #expect(hash.field.bytes == [0x44, 0xBC, 0x2C, 0xF5, 0xAD, 0x77])
        #expect([16, 256, 1, 0].map(hash.partition) == [9, 0x99, 0, 0])
        #expect([1, 2, 3, 4, 8, 6, 0].map(hash.field.bucket) == [0, 1, 1, 3, 7, 3, 0])
        #expect(IndexField(bytes: hash.field.bytes) == hash.field)
        #expect(IndexField(bytes: [1, 2, 3]) == nil)
    }

    @Test func `an index that gets a bucket moves entries only out of the divided bucket`() throws {
        let fields = (0..<2000).map { RegistryHash(id: "\($0)").field }
        for count in 1...200 {
            let divided = IndexField.divided(by: count)
            var moved = 0
            for field in fields {
                let (old, new) = (field.bucket(of: count), field.bucket(of: count + 1))
                #expect(old < count)
                if old == new { continue }
                #expect(old == divided && new == count)
                moved += 1
            }
            #expect(moved > 0)
        }
    }

    @Test func `devices are spread evenly over partitions, and over the buckets of a partition`() {
        let keys = RegistryKeys(app: "news")
        var partitions = [Int](repeating: 0, count: 16)
        var buckets = [Int](repeating: 0, count: 64)
        for number in 0..<64_000 {
            let id = "device-\(number)"
            partitions[keys.partition(ofDevice: id)] += 1
            if keys.partition(ofDevice: id) == 5 {
                buckets[RegistryHash(id: id).field.bucket(of: 64)] += 1
            }
        }
        #expect(partitions.allSatisfy { (3700...4300).contains($0) })
        #expect(buckets.allSatisfy { (30...100).contains($0) })
    }
}
