import CoreData

/// Students who take a course. One call opens the container.
@MainActor final class StudentList {
    let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init(storeURL: URL? = nil) throws {
        container = try NSPersistentContainer.open("School", at: storeURL)
    }

    /// Inserts a student of a course, and the course if none has that title.
    @discardableResult
    func add(_ name: String, age: Int16, to title: String) throws -> Student {
        let request: NSFetchRequest<Course> = Course.fetchRequest()
        request.predicate = NSPredicate(format: "title = %@", title)
        request.fetchLimit = 1
        let course: Course
        if let found = try context.fetch(request).first {
            course = found
        } else {
            course = Course(context: context)
            course.title = title
        }
        let student = Student(context: context)
        student.name = name
        student.age = age
        student.course = course
        try context.save()
        return student
    }

    func students(named name: String) throws -> [Student] {
        let request: NSFetchRequest<Student> = Student.fetchRequest()
        request.predicate = NSPredicate(format: "name = %@", name)
        return try context.fetch(request)
    }

    /// The names of a course's students, sorted.
    func names(in title: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Student")
        request.predicate = NSPredicate(format: "course.title = %@", title)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
    }

    /// Sets the same age for all students, by key as in the first chapters.
    func setAge(_ age: Int) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Student")
        for student in try context.fetch(request) { student.setValue(age, forKey: "age") }
        try context.save()
    }

    /// Sets a grade. The model refuses values outside of 0…100; the object then gets its old value back.
    func setGrade(_ grade: Int16, of student: Student) throws {
        student.grade = grade
        do {
            try context.save()
        } catch {
            context.rollback()
            throw error
        }
    }

    func deleteAll() throws {
        let request: NSFetchRequest<Student> = Student.fetchRequest()
        request.includesPropertyValues = false
        for student in try context.fetch(request) { context.delete(student) }
        try context.save()
    }
}
